// Runs in each document before its own scripts. Nothing that a page sees changes but what is needed: random numbers are
// the same at every visit, shadow roots can be read, windows are noted instead of opened. NAME is replaced by a name
// that no page can guess.
(() => {
  const leads = [], targets = [], seen = new Set();
  const note = (kind, url) => {
    try {
      const href = new URL(url, document.baseURI).href;
      if (leads.length < 1000 && href.length < 4096 && !seen.has(href)) { seen.add(href); leads.push([kind, href]); }
    } catch {}
  };
  let seed = 0x2545f491;
  Math.random = () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (init) { return attach.call(this, { ...init, mode: 'open' }); };
  for (const name of ['pushState', 'replaceState']) {
    const original = History.prototype[name];
    History.prototype[name] = function (state, title, url) {
      if (url !== undefined && url !== null) note('history', String(url));
      return original.apply(this, arguments);
    };
  }
  window.open = (url) => { if (url) note('window', String(url)); return null; };
  const socket = window.WebSocket;
  if (socket) window.WebSocket = new Proxy(socket, {
    construct(target, args) { note('connection', String(args[0])); return new target(...args); },
  });
  for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport']) delete window[name];
  window.print = window.alert = () => {};
  window.confirm = () => true;
  window.prompt = () => null;
  // Which elements react to what a reader does.
  const doings = new Set(['click', 'dblclick', 'mousedown', 'mouseup', 'mouseover', 'mouseenter', 'mousemove', 'mouseout',
    'mouseleave', 'pointerdown', 'pointerup', 'keydown', 'keyup', 'keypress', 'focus', 'blur', 'input', 'change', 'copy',
    'cut', 'paste', 'select', 'submit', 'dragstart', 'dragend', 'drop', 'contextmenu', 'touchstart', 'touchend', 'wheel',
    'toggle', 'search', 'reset', 'scroll', 'invalid']);
  const listen = EventTarget.prototype.addEventListener;
  EventTarget.prototype.addEventListener = function (type, listener) {
    if (targets.length < 2000 && listener && doings.has(type) && this instanceof Element) targets.push([this, type]);
    return listen.apply(this, arguments);
  };
  const inMarkup = () => {
    const found = [];
    let count = 0;
    for (const element of document.querySelectorAll('*')) {
      if (found.length >= 2000 || ++count > 20000) break;
      for (const { name } of element.attributes)
        if (name.startsWith('on') && doings.has(name.slice(2))) found.push([element, name.slice(2)]);
      for (const type of doings) {
        const listener = element['on' + type];
        if (typeof listener === 'function' && !element.hasAttribute('on' + type)) found.push([element, type]);
      }
    }
    const usual = 'button,[role=button],[role=tab],[role=menuitem],summary,input[type=button],input[type=submit],' +
      'a:not([href]),a[href^="javascript:" i],a[href="#"],[aria-expanded=false]';
    for (const element of document.querySelectorAll(usual)) found.push([element, 'click']);
    return found;
  };
  const kinds = [[/^(click|dblclick|mouse|contextmenu)/, MouseEvent], [/^key/, KeyboardEvent], [/^pointer/, PointerEvent],
    [/^drag|^drop/, DragEvent], [/^(focus|blur)/, FocusEvent], [/^(copy|cut|paste)/, ClipboardEvent], [/^wheel/, WheelEvent]];
  const act = (element, type) => {
    if (type === 'click' && element.click) return element.click();
    if (type === 'submit' && element.requestSubmit) return element.requestSubmit();
    const kind = kinds.find(([pattern]) => pattern.test(type));
    const init = { bubbles: !/^(focus|blur|mouseenter|mouseleave)$/.test(type), cancelable: true, view: window, key: 'a' };
    element.dispatchEvent(new (kind ? kind[1] : Event)(type, kind ? init : { bubbles: init.bubbles, cancelable: true }));
  };
  Object.defineProperty(window, 'NAME', { value: (most) => {
    if (most === undefined) return JSON.stringify(leads);
    const types = new Map();
    for (const [element, type] of [...targets, ...inMarkup()]) {
      if (!element.isConnected) continue;
      if (!types.has(element)) { if (types.size >= most) continue; types.set(element, new Set()); }
      types.get(element).add(type);
    }
    for (const [element, all] of types) {
      for (const type of all) try { act(element, type); } catch {}
    }
    return types.size;
  } });
})();
