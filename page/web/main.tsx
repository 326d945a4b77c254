// Draws the page from the figures that it holds.
import { render } from "preact";
import { load } from "./load";
import { DifferencePage } from "./difference";
import { JobPage } from "./job";
import { ProcessPage } from "./process";
import { tips } from "./tip";

const draw = (figures: Awaited<ReturnType<typeof load>>) => {
  switch (figures.kind) {
    case "job": return <JobPage job={figures} />;
    case "difference": return <DifferencePage d={figures} />;
    default: return <ProcessPage p={figures} />;
  }
};

load().then((figures) => {
  const app = document.getElementById("app")!;
  document.getElementById("static")!.hidden = true;
  render(draw(figures), app);
  tips();
  performance.mark("drawn");
  document.documentElement.dataset.ready = "true";
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}).catch((err: unknown) => {
  // The page keeps the tables for browsers without scripts.
  const p = document.createElement("p");
  p.className = "banner";
  p.textContent = `The pictures cannot be drawn in this browser (${String(err)}); the tables below hold the figures.`;
  document.getElementById("static")!.hidden = false;
  document.getElementById("app")!.replaceChildren(p);
});
