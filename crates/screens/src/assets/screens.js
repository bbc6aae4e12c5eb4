// Makes screens live, and lets keys move in them. Without it all is there, too: links, forms, and a reload.
// Content is never put in as text that is parsed here: a request gives a document, and its parts are moved over.

const body = document.body;

/** The parts of a screen that are renewed, by their ids. @param {Document} from */
function liveParts(from) {
  return [...from.querySelectorAll("[data-live][id]")];
}

/** Whether the user is at work in a part, so that it must stay. @param {Element} part */
function inUse(part) {
  const active = document.activeElement;
  if (active && active !== body && part.contains(active) && active.matches("input, textarea, select")) return true;
  const chosen = document.getSelection();
  return Boolean(chosen && !chosen.isCollapsed && part.contains(chosen.anchorNode));
}

/** Which details are open, and what has the focus, so that they stay so. @param {Element} part */
function rememberState(part) {
  const open = [...part.querySelectorAll("details[open] > summary")].map((one) => one.textContent);
  const all = [...part.querySelectorAll("a, button, summary, [tabindex]")];
  return { open, focus: all.indexOf(/** @type {Element} */ (document.activeElement)) };
}

/** @param {Element} part @param {{open: (string|null)[], focus: number}} state */
function restoreState(part, state) {
  for (const summary of part.querySelectorAll("details > summary")) {
    if (state.open.includes(summary.textContent)) summary.parentElement?.setAttribute("open", "");
  }
  if (state.focus >= 0) {
    const target = part.querySelectorAll("a, button, summary, [tabindex]")[state.focus];
    if (target instanceof HTMLElement) target.focus({ preventScroll: true });
  }
}

let renewing = false;
let again = false;

/** Asks for this very screen, and takes over the parts that differ. */
function renew() {
  if (renewing) {
    again = true;
    return;
  }
  renewing = true;
  const request = new XMLHttpRequest();
  request.open("GET", location.href);
  request.responseType = "document";
  request.setRequestHeader("accept", "text/html");
  request.onload = () => {
    const fresh = request.response;
    if (request.status === 200 && fresh instanceof Document) takeOver(fresh);
  };
  request.onloadend = () => {
    renewing = false;
    if (again) {
      again = false;
      later();
    }
  };
  request.send();
}

/** @param {Document} fresh */
function takeOver(fresh) {
  for (const part of liveParts(document)) {
    const other = fresh.getElementById(part.id);
    if (!other || other.isEqualNode(part) || inUse(part)) continue;
    const state = rememberState(part);
    const taken = document.importNode(other, true);
    part.replaceWith(taken);
    restoreState(taken, state);
  }
  select(selected);
}

let timer = 0;

/** Renews soon, at most every two seconds, and only where somebody looks. */
function later() {
  if (timer || document.hidden) return;
  timer = window.setTimeout(() => {
    timer = 0;
    renew();
  }, 2000);
}

function listen() {
  const address = body.dataset.stream;
  if (!address || !liveParts(document).length) return;
  let source = new EventSource(address);
  for (const name of ["status", "change", "hit", "delivery", "lagged"]) source.addEventListener(name, later);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) source.close();
    else {
      source.close();
      source = new EventSource(address);
      for (const name of ["status", "change", "hit", "delivery", "lagged"]) source.addEventListener(name, later);
      later();
    }
  });
}

let selected = -1;

/** The rows that keys move in. */
function rows() {
  return [...document.querySelectorAll("[data-keys=rows] > li")];
}

/** @param {number} number */
function select(number) {
  const all = rows();
  if (number < 0 || !all.length) return;
  selected = Math.min(number, all.length - 1);
  all.forEach((row, at) => row.classList.toggle("selected", at === selected));
}

/** @param {number} by */
function move(by) {
  const all = rows();
  if (!all.length) return;
  select(Math.max(0, selected + by));
  const row = all[selected];
  row.scrollIntoView({ block: "nearest" });
  const link = row.querySelector("a");
  if (link instanceof HTMLElement) link.focus({ preventScroll: true });
}

document.addEventListener("keydown", (event) => {
  const target = /** @type {Element} */ (event.target);
  if (event.ctrlKey || event.metaKey || event.altKey || target.closest("input, textarea, select")) return;
  const seen = document.querySelector("form[action$='/seen']");
  if (event.key === "j") move(1);
  else if (event.key === "k") move(-1);
  else if (event.key === "e" && seen instanceof HTMLFormElement) seen.requestSubmit();
  else if (event.key === "/") document.getElementById("find")?.focus();
  else return;
  event.preventDefault();
});

// A command or a call is copied by a click.
for (const block of document.querySelectorAll(".elsewhere pre")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet small copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.querySelector("code")?.textContent ?? "");
    button.textContent = "Copied";
    window.setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  block.append(button);
}

listen();
