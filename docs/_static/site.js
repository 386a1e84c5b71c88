// What scrolls sideways can be reached and scrolled by the keyboard.
function reachable() {
  for (const part of document.querySelectorAll("pre, .math-wrapper, .table-wrapper, div.math, p:has(> img)")) {
    const scrolls = part.scrollWidth > part.clientWidth || part.scrollHeight > part.clientHeight;
    if (scrolls) part.tabIndex = 0;
    else part.removeAttribute("tabindex");
  }
}
addEventListener("load", reachable);
addEventListener("resize", reachable);

// The titles of the gallery are hidden, and the links have no other text.
for (const link of document.querySelectorAll(".sphx-glr-thumbcontainer a.reference.internal")) {
  link.setAttribute("aria-label", link.textContent.trim());
}
