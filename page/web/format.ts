// Functions that print figures.

// seconds prints a time with about three digits; words.Time (report/words) does the same.
export function seconds(ns: number): string {
  const s = ns / 1e9, a = Math.abs(s);
  if (a === 0) return "0 s";
  if (a >= 100) return `${s.toFixed(0)} s`;
  if (a >= 1) return `${s.toFixed(2)} s`;
  if (a >= 1e-3) return `${digits(1e3 * s)} ms`;
  return `${digits(1e6 * s)} us`;
}

const digits = (v: number) => String(Number(v.toPrecision(3)));

export function percent(share: number): string {
  if (!Number.isFinite(share)) return "-";
  const v = 100 * share;
  return v > 0 && v < 0.1 ? "< 0.1 %" : `${v.toFixed(1)} %`;
}

export const count = (n: number) => n.toLocaleString("en-US").replaceAll(",", " ");

export function bytes(n: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let i = 0;
  while (n >= 1024 && i < units.length - 1) { n /= 1024; i++; }
  return `${i === 0 ? n : n.toFixed(n < 10 ? 2 : 1)} ${units[i]}`;
}

export const code = (region: number) => `R${String(region).padStart(5, "0")}`;

// estimate marks a figure that is an estimate.
export const estimate = (is: boolean | undefined, figure: string) => (is ? `~${figure}` : figure);

// titleOf names a region where there is little room: by its construct and place. Of an MPI call, the
// operation comes first. In a place, it comes last, where it is cut off.
export function titleOf(r: { construct: string; name?: string }, place: string) {
  const last = ` (${r.name})`;
  return r.construct === "MPI" && place.endsWith(last) ? `${r.name} ${place.slice(0, -last.length)}` : `${r.construct} ${place}`;
}
export const plural = (n: number, noun: string) => `${count(n)} ${noun}${n === 1 ? "" : "s"}`;
export const base = (file: string) => file.slice(file.lastIndexOf("/") + 1);
