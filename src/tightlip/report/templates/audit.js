"use strict";
{ // the library before has names of its own
  // `ast` keeps Vega from compiling text to code, so that the page's policy can forbid it
  const options = { mode: "vega-lite", renderer: "svg", actions: false, ast: true };
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const resize = () => window.dispatchEvent(new Event("resize"));
  // what is folded has no width, so charts are drawn before parts are folded, and again when they are opened
  Promise.all(
    Object.entries(charts).map(([name, chart]) => vegaEmbed(document.getElementById(name), chart, options)),
  ).then(() => {
    for (const part of document.querySelectorAll("details.secret")) {
      part.open = "deciding" in part.dataset;
      part.addEventListener("toggle", resize);
    }
    document.documentElement.dataset.charts = "drawn";
  });
  // on paper nothing can be opened; a proof is for programs and stays in the file
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open], .proof)")];
    for (const part of opened) part.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const part of opened) part.open = false;
  });
}
