"use strict";
{ // the library before has names of its own
  // `ast` keeps Vega from compiling text to code, so that the page's policy can forbid it
  const options = { mode: "vega-lite", renderer: "svg", actions: false, ast: true };
  const charts = JSON.parse(document.getElementById("charts").textContent);
  Promise.all(
    Object.entries(charts).map(([name, chart]) => vegaEmbed(document.getElementById(name), chart, options)),
  ).then(() => {
    document.documentElement.dataset.charts = "drawn";
  });
}
