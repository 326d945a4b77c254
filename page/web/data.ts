// The figures of a page, as package page writes them (figures.go, job.go; docs/page.md).
export type PartKey = "work" | "serial" | "idle" | "synch" | "imbal" | "limpar" | "mgmt" | "mpi" | "no_core";
export type Parts = Partial<Record<PartKey, number>>;

export interface Fact { name: string; text: string }
export interface Note { title?: string; items?: string[] }
export interface Extreme { label: string; ns: number }

export interface Finding {
  name: string; region: number; path?: string; class: PartKey; ns: number; severity: number;
  saves_ns?: number; of?: string; most?: Extreme; least?: Extreme; says: string; helps: string;
  doubt?: string; estimated?: boolean;
}

export interface Row {
  thread: number; exec: number; count: number; enter?: number; body?: number; barrier?: number;
  exit?: number; mpi?: number; own: Parts;
}

// Sizes are numbers of messages by size. Element 0 is for 0 bytes, element i for 2^(i-1) bytes up
// to below 2^i.
export interface Sizes { sent?: number[]; received?: number[]; moved?: number[] }

export interface Calls {
  sizes?: Sizes;
  ns: number; calls: number; sends: number; recvs: number; colls: number; out_bytes: number;
  in_bytes: number; unknown?: number; sized?: number; min_bytes?: number; max_bytes?: number;
}

export interface HotLine { text: string; file?: string; line?: number; weight: number }
export interface Hot { weight: number; phases: Record<string, number>; lines: HotLine[] }

export interface Region {
  region: number; construct: string; place: string; name?: string; file?: string; begin?: number;
  end?: number; function?: string; inclusive_ns: number; exclusive_ns: number; execs: number;
  mark?: string; own: Parts; lossy?: number; rows?: Row[]; counters?: Record<string, number>;
  counters_lack?: number; mpi?: Calls; hot?: Hot; notes?: string[];
}

export interface Node { parent: number; region: number; own: Parts; width_ns: number; execs: number }
// Trees are severities by property, call path and location (trees.go). Values are quadruples.
export interface Trees {
  thread_ns: number; values: number[]; worst?: [number, number]; coarse?: "process" | "run";
  properties: { parent: number; name: string; ompp?: string; unit: string; text: string; helps?: string; saves_ns?: number; of?: string }[];
  paths: { parent: number; region: number }[];
  locations: { parent: number; name: string }[];
  findings?: TreeFinding[]; notes?: string[];
}

// TreeFinding says who caused the time of a property at a call path (due.go).
export interface TreeFinding {
  property: number; path: number; ns: number; saves_ns?: number; of?: string; more?: number;
  due?: { who: string; did: string; at: number; from?: number; ns: number; bound_ns?: number; times?: number }[];
}

// Strip holds the states of each thread, or of ranks, over time. Shares of bins are bytes in
// base64.
export interface Strip {
  width_ns: number; bins: number; measured_ns: number; off?: string; more?: number;
  rows: { label: string; states: Record<string, string>; times: Record<string, number> }[];
}

// Picture is the picture of a timeline (package report/when).
export interface Picture {
  length_ns: number; shortest_ns: number; bins: number;
  names: { text: string; class: PartKey }[];
  rows: { label: string; executions: number; depth: number; boxes: number[] }[];
  left_out?: number;
  levels: { name: string; ns: number; bins: number[] }[];
  messages?: { from: number; to: number; sent: number; received: number }[];
  unshown?: number;
  gaps?: { process: string; from: number; to: number; why: string; executions: number }[];
  notes?: string[];
}

export interface Source { file: string; lines: Record<string, string>; missing?: string }

export interface Efficiency { key: string; name: string; value: number; region?: number; of?: Efficiency[] }

export interface Process {
  version: number; kind: "process";
  head: {
    program: string; args?: string[]; host: string; pid: number; start: string; ended?: string;
    exit?: number; snapshot?: boolean; attached?: boolean; tool: string; runtimes: string[];
    rank?: number; size?: number; threads: number; wall_ns: number; thread_ns: number;
    parallel_coverage: number | null; accounting: string; adjusted: boolean; probe_ns: number | null; probe_lowered: boolean;
    probe_share: number; lost_events: number; hits: number; partial: number;
  };
  facts: Fact[]; whole: Parts; efficiency: Efficiency | null; untold?: string; threads: { label: string; whole: Parts }[]; findings: Finding[]; small: number;
  rough?: string[]; regions: Region[]; nodes: Node[];
  counters?: { name: string; unit?: string; running?: number; failed?: string }[];
  sampled?: string; sources?: Source[]; trees?: Trees; strip?: Strip; when?: Picture; notes: Note[];
}

export interface Stats {
  sum: number; min: number; min_rank: number; mean: number; max: number; max_rank: number; stddev: number;
}

export interface JobRegion {
  region: number; construct: string; name?: string; reached: number; lossy?: number;
  figures: Record<string, Stats>; counters?: Record<string, Stats>;
  sizes?: Sizes; call_bytes?: { min: number; mean: number; max: number }; start_end?: boolean; reading?: string;
}

export interface JobRank {
  rank: number; ended?: string; exit?: number; snapshot_at?: string; file: string; host: string;
  threads: number; wall_ns: number; thread_ns: number; work_ns: number; serial_work_ns: number; idle_ns: number;
  mpi_ns: number; overheads_ns: Record<string, number>; lost_events: number; probe_ns: number | null; probe_lowered?: boolean;
}

// Pair is what one rank sent to another, and Traffic what ranks exchanged; docs/job.md.
export interface Pair { from: number; to: number; messages: number; bytes: number }
export interface Traffic {
  width: number; bins: number; cells: number[][]; messages: number; bytes: number;
  at_least?: boolean; pairs: number; heaviest: Pair[]; receivers: Stats; sizes?: Sizes;
  unknown?: { why: string; sends?: number; recvs?: number; out?: number; in?: number }[];
}

// JobFigures are the figures of job.json (docs/job.md).
export interface JobFigures {
  traffic?: Traffic;
  size: number; missing: number[]; accounting: string; ranks: JobRank[]; regions: JobRegion[];
  quantities: ({ name: string; whole_ns: number; verdict: string } & Stats)[];
  by_rank: {
    width: number; ranks: number[];
    regions: { region: number; figures: Record<string, number[]>; min?: number[]; max?: number[] }[];
  };
}

export interface Job {
  version: number; kind: "job"; figures: JobFigures;
  head: {
    programs: string[]; hosts: number; libraries: string[]; ranks: number; size: number;
    threads: number; wall_ns: number; thread_ns: number; probe_ns: number | null; probe_lowered: boolean; lost_events: number;
    adjusted: boolean;
  };
  summary: Fact[]; whole: Parts; efficiency: Efficiency | null; untold?: string; findings: Finding[]; small: number; trees?: Trees; strip?: Strip; when?: Picture; nodes?: Node[]; places: string[]; notes: Note[];
}

// partsOfRank returns the parts of all threads' time of a rank.
export function partsOfRank(r: JobRank): Parts {
  const o = r.overheads_ns;
  return {
    work: r.work_ns, serial: r.serial_work_ns, idle: r.idle_ns, synch: o.synch,
    imbal: o.imbal, limpar: o.limpar, mgmt: o.mgmt, mpi: o.mpi, no_core: o.no_core,
  };
}

const partFigures: [PartKey, string][] = [["work", "workT"], ["synch", "synchT"], ["imbal", "imbalT"],
  ["limpar", "limparT"], ["mgmt", "mgmtT"], ["mpi", "mpiT"], ["no_core", "noCoreT"]];

// partsOf returns the parts of a region's inclusive time, from the region's figures.
export function partsOf(value: (figure: string) => number | undefined): Parts {
  return Object.fromEntries(partFigures.map(([k, f]) => [k, value(f) ?? 0]));
}
