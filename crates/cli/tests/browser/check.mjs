// Looks at screens in a browser and says what is wrong with them, a line each; nothing where all is well.
//
//   node check.mjs PLAYWRIGHT BROWSER ADDRESS PATHS [SHOTS]
//
// ADDRESS holds the token; PATHS are separated by spaces. With SHOTS, a folder, each screen is photographed there.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [playwright, executablePath, address, paths, shots] = process.argv.slice(2);
const { chromium } = await import(pathToFileURL(path.join(playwright, "index.mjs")).href);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const origin = new URL(address).origin;
const wrong = [];

/** What is wrong with the page as it is drawn. */
function faults() {
  const found = [];
  const wide = document.scrollingElement.scrollWidth - window.innerWidth;
  if (wide > 0) found.push(`scrolls sideways by ${wide} px`);
  if (!document.querySelector("main h1")) found.push("has no heading");
  if (!document.documentElement.lang) found.push("has no language");
  for (const control of document.querySelectorAll("input:not([type=hidden]), select, textarea, button, a[href], summary")) {
    const name = control.getAttribute("aria-label") || control.labels?.[0]?.textContent || control.textContent;
    if (!name.trim()) found.push(`has a control without a name: ${control.outerHTML.slice(0, 80)}`);
  }
  const parse = (text) => {
    const parts = text.match(/[\d.]+/g)?.map(Number) ?? [0, 0, 0, 0];
    return { rgb: parts.slice(0, 3), alpha: parts.length > 3 ? parts[3] : 1 };
  };
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.alpha > 0.99) return colour.rgb;
    }
    return [255, 255, 255];
  };
  const faint = new Set();
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (words.nextNode()) {
    const element = words.currentNode.parentElement;
    if (!words.currentNode.textContent.trim() || !element || element.closest("svg, .unseen, script")) continue;
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const [a, b] = [luminance(parse(getComputedStyle(element).color).rgb) + 0.05, luminance(ground(element)) + 0.05];
    const ratio = Math.max(a, b) / Math.min(a, b);
    if (ratio < 4.5) faint.add(`${ratio.toFixed(2)} to 1: "${words.currentNode.textContent.trim().slice(0, 40)}"`);
  }
  for (const one of faint) found.push(`is faint: ${one}`);
  return found;
}

async function look(width, colorScheme, javaScriptEnabled) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, javaScriptEnabled });
  const page = await context.newPage();
  let where = "";
  const note = (what) => wrong.push(`${where} at ${width} px, ${colorScheme}${javaScriptEnabled ? "" : ", without scripts"}: ${what}`);
  page.on("console", (message) => message.type() === "error" && note(`console: ${message.text()}`));
  page.on("pageerror", (error) => note(`script: ${error.message}`));
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && url.protocol !== "data:") note(`asks elsewhere: ${request.url()}`);
  });
  where = "/";
  await page.goto(address);
  for (const one of paths.split(" ")) {
    where = one;
    const response = await page.goto(origin + one, { waitUntil: "load" });
    if (response.status() !== 200) note(`status ${response.status()}`);
    const policy = response.headers()["content-security-policy"] ?? "";
    if (!policy.includes("script-src 'self'") || policy.includes("unsafe")) note(`policy: ${policy}`);
    const bytes = (await response.body()).length;
    if (bytes > 60_000) note(`weighs ${bytes} bytes`);
    // Without scripts nothing can be evaluated in the page; there it is only asked for its words.
    if (javaScriptEnabled) for (const fault of await page.evaluate(faults)) note(fault);
    else if ((await page.locator("main").innerText()).length < 100) note("says nothing");
    if (shots) {
      const name = one.replace(/[^a-z]+/g, "-").replace(/^-|-$/g, "") || "collections";
      await page.screenshot({ path: path.join(shots, `${name}-${width}-${colorScheme}.png`), fullPage: true });
    }
  }
  await context.close();
}

/** Keys move in the list of changes, and the focus is seen. */
async function useKeys() {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  await page.goto(address);
  const changes = paths.split(" ").find((one) => one.includes("/changes"));
  await page.goto(origin + changes, { waitUntil: "load" });
  await page.keyboard.press("Tab");
  if (!(await page.evaluate(() => document.activeElement.classList.contains("skip")))) wrong.push("the first key does not lead to the content");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  const selected = await page.evaluate(() => [...document.querySelectorAll("[data-keys=rows] > li")].findIndex((row) => row.classList.contains("selected")));
  if (selected !== 1) wrong.push(`two times j selects row ${selected}`);
  await page.keyboard.press("/");
  if ((await page.evaluate(() => document.activeElement.id)) !== "find") wrong.push("/ does not lead to the search field");
  await context.close();
}

/** A form of a page is sent, and what it does is seen; also without scripts. */
async function useForm() {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(address);
  await page.goto(origin + paths.split(" ").find((one) => one.includes("/page?url=")), { waitUntil: "load" });
  await page.getByRole("button", { name: "Pin", exact: true }).click();
  await page.waitForLoadState("load");
  const words = await page.locator("main").innerText();
  if (!words.includes("You pinned it")) wrong.push(`the form for a pin leads to ${page.url()}: ${words.slice(0, 200)}`);
  await context.close();
}

if (shots) fs.mkdirSync(shots, { recursive: true });
const looks = [[1280, "dark"], [820, "light"], [360, "light"]];
if (shots) looks.push([1280, "light"], [820, "dark"], [360, "dark"]);
for (const [width, scheme] of looks) await look(width, scheme, true);
await look(360, "light", false);
await useKeys();
await useForm();
await browser.close();
for (const one of wrong) console.log(one);
process.exitCode = wrong.length ? 1 : 0;
