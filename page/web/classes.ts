// The parts of a time, with their names and meanings, in the order of all bars. static.go has the
// same list, page.css has the colours.
import type { PartKey, Parts } from "./data";

export const classes: { key: PartKey; name: string; means: string }[] = [
  { key: "work", name: "Work", means: "in regions, in no class of overhead" },
  { key: "serial", name: "Serial code", means: "initial threads outside of all regions" },
  { key: "idle", name: "Idle workers", means: "workers while no team needs them" },
  { key: "synch", name: "Synchronisation", means: "waiting for locks, critical sections, barriers" },
  { key: "imbal", name: "Imbalance", means: "waiting for threads that have more to do" },
  { key: "limpar", name: "Limited parallelism", means: "idle because there is work for some threads only" },
  { key: "mgmt", name: "Management", means: "the runtime's own work: teams, tasks" },
  { key: "mpi", name: "MPI", means: "in MPI calls" },
  { key: "no_core", name: "No core", means: "ready to run, but without a core" },
];

export const overheads: PartKey[] = ["synch", "imbal", "limpar", "mgmt", "mpi", "no_core"];

export const nameOf = (key: PartKey) => classes.find((c) => c.key === key)!.name;
// inSentence is the name of a class as it is written within a sentence.
export const inSentence = (key: PartKey) => (key === "mpi" ? "MPI" : nameOf(key).toLowerCase());
export const sumOf = (p: Parts) => classes.reduce((t, c) => t + (p[c.key] ?? 0), 0);
export const overheadOf = (p: Parts) => overheads.reduce((t, k) => t + (p[k] ?? 0), 0);

export function addParts(a: Parts, b: Parts): Parts {
  return Object.fromEntries(classes.map((c) => [c.key, (a[c.key] ?? 0) + (b[c.key] ?? 0)]));
}

// worst returns the class of overhead with most time, or undefined without overheads.
export function worst(p: Parts): PartKey | undefined {
  let most: PartKey | undefined;
  for (const k of overheads) if ((p[k] ?? 0) > (most ? p[most]! : 0)) most = k;
  return most;
}
