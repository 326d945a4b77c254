// The figures of a comparison, as diff writes them (report/difference/json.go; docs/diff.md).
import type { PartKey, Parts } from "./data";
import { bytes, count, seconds } from "./format";

export interface Summary { values: number[]; median: number; lo: number | null; hi: number | null; confidence: number }
export interface Change { a: Summary; b: Summary; delta: number; ratio: number | null; p: number | null }
export interface Quantity extends Change { name: string; unit: Unit; significant: boolean }
export type Unit = "ns" | "count" | "bytes";

export interface DiffRegion {
  title: string; construct: string; name?: string; a: object | null; b: object | null; moved: boolean; share: number;
  tested: boolean; significant: string[] | null; figures: Record<string, Change>; counters?: Record<string, Change>;
}
export interface DiffPath { parent: number; region: number; own: Change; inclusive: Change }
export interface Violation extends Change { condition: string; region?: string; sentence: string }
export interface Run { name: string; programs: string[]; ranks: number; width: string }

export interface Comparison {
  version: number; alpha: number; tests: number; repeats_needed: number; headline: string; tested?: string;
  findings: { region: number; says: string }[]; accounting: string; sides: { runs: Run[] }[];
  program: Quantity[]; regions: DiffRegion[]; paths: DiffPath[]; paths_more: number; notes: string[]; violations: Violation[];
}

export interface Difference { version: number; kind: "difference"; figures: Comparison }

export const own = (r: DiffRegion): Change => r.figures.ownT!;
export const changed = (r: DiffRegion) => (r.significant ?? []).length > 0;
export const onlyOn = (r: DiffRegion) => (r.a === null ? "new" : r.b === null ? "gone" : undefined);

export function amount(v: number, unit: Unit): string {
  if (unit === "ns") return seconds(v);
  return unit === "bytes" ? (v < 0 ? "-" : "") + bytes(Math.abs(v)) : count(v);
}

export const signed = (v: number, unit: Unit) => (v > 0 ? "+" : "") + amount(v, unit);

// ratio prints a change as a share of the earlier figure.
export function ratio(x: Change): string {
  if (x.ratio === null) return x.delta === 0 ? "=" : "from 0";
  return x.ratio === 0 ? "=" : `${x.ratio > 0 ? "+" : ""}${(100 * x.ratio).toFixed(1)} %`;
}

export const chance = (x: Change) => (x.p === null ? "" : x.p < 0.001 ? "< 0.001" : x.p.toFixed(3));

// spread prints a median, with its interval if there are enough repeats for one.
export function spread(s: Summary, unit: Unit): string {
  if (s.lo === null || s.hi === null || s.median === 0) return amount(s.median, unit);
  return `${amount(s.median, unit)} ±${(100 * Math.max(s.hi - s.median, s.median - s.lo) / Math.abs(s.median)).toFixed(0)} %`;
}

// bounds returns the least and the greatest difference that the intervals of both medians allow.
export function bounds(x: Change): [number, number] | undefined {
  if (x.a.lo === null || x.a.hi === null || x.b.lo === null || x.b.hi === null) return undefined;
  return [x.b.lo - x.a.hi, x.b.hi - x.a.lo];
}

// about returns the text of a tip with all figures of a change.
export function about(x: Change, unit: Unit): string {
  const between = bounds(x);
  return `A: ${spread(x.a, unit)}\nB: ${spread(x.b, unit)}\n${signed(x.delta, unit)} (${ratio(x)})`
    + (between ? `\nbetween ${signed(between[0], unit)} and ${signed(between[1], unit)}` : "")
    + (x.p === null ? "" : `\np: ${chance(x)}`);
}

export type Side = "a" | "b";

const ownParts: [PartKey, string][] = [["work", "ownWorkT"], ["synch", "synch"], ["imbal", "imbal"], ["limpar", "limpar"],
  ["mgmt", "mgmt"], ["mpi", "mpi"], ["no_core", "noCore"]];

// partsOfRegion are the parts of a region's own time.
export const partsOfRegion = (r: DiffRegion, side: Side): Parts =>
  Object.fromEntries(ownParts.map(([k, f]) => [k, r.figures[f]?.[side].median ?? 0]));

const whole: PartKey[] = ["work", "serial", "idle", "synch", "imbal", "limpar", "mgmt", "mpi", "no_core"];

// partsOfProgram are the parts of all threads' time.
export const partsOfProgram = (c: Comparison, side: Side): Parts =>
  Object.fromEntries(whole.map((k) => [k, c.program.find((q) => q.name === k)?.[side].median ?? 0]));

export const quantity = (c: Comparison, name: string) => c.program.find((q) => q.name === name)!;

// mostChanged returns a title that names the region with the greatest change.
export function mostChanged(c: Comparison): string {
  const known = c.regions.filter((r) => own(r).delta !== 0);
  if (known.length === 0) return "No region's own time differs";
  const sure = known.filter(changed);
  const r = (sure.length > 0 ? sure : known)[0]!, x = own(r), only = onlyOn(r);
  if (only) return `${r.title} is ${only}: ${amount(only === "new" ? x.b.median : x.a.median, "ns")} of all threads`;
  return `${r.title} differs most: ${signed(x.delta, "ns")} (${ratio(x)})${c.tests > 0 && sure.length === 0 ? ", within the spread of the repeats" : ""}`;
}
