// Runs in a world of its own beside a document's scripts, so that these cannot change what it does.
(() => {
  const most = 16 << 20, roots = [];
  const walk = (root) => {
    for (const element of root.querySelectorAll('*'))
      if (element.shadowRoot && roots.length < 5000) { roots.push(element.shadowRoot); walk(element.shadowRoot); }
  };
  walk(document);
  const top = document.documentElement;
  const texts = [document.body ? document.body.innerText : ''];
  for (const root of roots) for (const child of root.children)
    if (!/^(STYLE|SCRIPT|TEMPLATE)$/.test(child.tagName)) texts.push(child.innerText || '');
  let html = '';
  if (top) {
    const [open, close] = [top.cloneNode(false).outerHTML.replace(/<\/[^>]*>$/, ''), '</' + top.tagName.toLowerCase() + '>'];
    html = (document.doctype ? '<!DOCTYPE html>\n' : '') + open + top.getHTML({ shadowRoots: roots }) + close;
  }
  return { url: location.href, base: document.baseURI, title: document.title,
    text: texts.join('\n').slice(0, most), html: html.slice(0, most) };
})()
