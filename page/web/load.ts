// Reads the figures that a page holds.
import type { Difference } from "./change";
import type { Job, Process } from "./data";

// load returns the figures of the page. Large figures are packed (html.go).
export async function load(): Promise<Process | Job | Difference> {
  const el = document.getElementById("figures")!;
  if (el.dataset.packed !== "gzip") return JSON.parse(el.textContent!);
  const bytes = Uint8Array.from(atob(JSON.parse(el.textContent!)), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}
