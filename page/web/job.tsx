// The page of a job.
import { useState } from "preact/hooks";
import { Alike } from "./alike";
import type { Job } from "./data";
import { partsOfRank } from "./data";
import { EfficiencyTree } from "./efficiency";
import { bytes, count, estimate, percent, plural, seconds, titleOf } from "./format";
import { Findings, Frame, Notes, Section, Tile, Whole } from "./frame";
import { Heat } from "./heat";
import { Icicle } from "./icicle";
import { JobCalls } from "./jobcalls";
import { JobRegions } from "./jobregions";
import { Matrix } from "./matrix";
import { Pies } from "./pies";
import { Radar } from "./radar";
import { Ranks } from "./ranks";
import { MessageSizes } from "./sizes";
import { Strip } from "./strip";
import { ThreeTrees } from "./trees";
import { Levels, When } from "./when";

export function JobPage({ job }: { job: Job }) {
  const [open, setOpen] = useState<string | number>();
  const show = (region: number) => {
    setOpen(region);
    requestAnimationFrame(() => document.getElementById(`row-${region}`)?.scrollIntoView({ block: "center" }));
  };
  const f = job.figures, name = (region: number) => titleOf(f.regions[region - 1]!, job.places[region - 1]!);
  const calls = f.regions.filter((r) => r.construct === "MPI");
  const bins = f.by_rank.ranks.map((_, i) => binLabel(i, f.by_rank.width));
  const present = (v: number[] | undefined) => f.by_rank.ranks.map((n, i) => (n === 0 ? undefined : v?.[i]));
  const sections: [string, string][] = [["overview", "Overview"], ["findings", "Findings"], ["ranks", "Ranks"], ["regions", "Regions"]];
  if (job.nodes && job.nodes.length > 1) sections.push(["paths", "Call paths"]);
  if (job.trees) sections.push(["trees", "Three trees"]);
  if (job.when || job.strip) sections.push(["when", "When"]);
  if (calls.length > 0) sections.push(["mpi", "MPI"]);
  sections.push(["measurement", "The measurement"]);
  const title = job.head.programs.join(", ") || "unknown";
  return (
    <Frame title={title} sections={sections}>
      <Head job={job} title={title} />
      <Section id="efficiency" title="How well it runs"><EfficiencyTree root={job.efficiency} untold={job.untold} open={show} name={name} /></Section>
      <Section id="findings" title="What costs time, and what helps"
        lede={job.findings.length > 0 ? "The worst first. Shares are of all threads' time, over all ranks." : job.untold ? "Not told: see above." : "No property costs a thousandth of the time."}>
        <Findings of={job.findings} small={job.small} open={show} />
      </Section>
      <Section id="ranks" title="Are the ranks alike?">
        <Alike f={f} />
        {f.ranks.length > 1 && <Pies ranks={f.ranks} byRank={f.by_rank} name={name} />}
        <div class="grid2">
          {f.by_rank.width === 1 && f.ranks.length > 2 && f.ranks.length <= 32 && <Radar f={f} name={name} />}
        </div>
        <Heat title={(row) => `Ranks differ most in ${row}`} alike="Ranks are alike in all regions" who="rank" columns={bins}
          caption={`Inclusive time of each rank in each region, summed over its threads, as a share of the row's greatest.${f.by_rank.width > 1 ? ` A column is the mean of ${f.by_rank.width} neighbouring ranks; extremes are those of single ranks.` : ""}`}
          choices={[["All time", "execT"], ["Work", "workT"], ["MPI", "mpiT"], ["Imbalance", "imbalT"]].map(([title, figure]) => ({
            name: title!, rows: f.by_rank.regions.filter((r) => r.figures[figure!]).map((r) => ({
              name: name(r.region), values: present(r.figures[figure!]!.map((v, i) => v / Math.max(1, f.by_rank.ranks[i]!))),
              low: figure === "execT" && r.min ? present(r.min) : undefined, high: figure === "execT" && r.max ? present(r.max) : undefined,
            })),
          })).filter((c) => c.rows.length > 0)} />
        <Ranks f={f} parts={partsOfRank} />
      </Section>
      <Section id="regions" title="Where the time goes"
        lede="Every construct at its place in the source, over all ranks. Inclusive time, summed over threads. A row opens.">
        <JobRegions job={job} opened={open} onOpen={setOpen} />
      </Section>
      {job.nodes && job.nodes.length > 1 && (
        <Section id="paths" title="On which call paths" lede="Over all ranks.">
          <Icicle nodes={job.nodes} name={(r) => (r === 0 ? title : name(r))} open={show} />
        </Section>
      )}
      {job.trees && (
        <Section id="trees" title="What, on which call path, and where" lede="Over all ranks.">
          <ThreeTrees trees={job.trees} name={(r) => (r === 0 ? title : name(r))} open={show} />
        </Section>
      )}
      {(job.when || job.strip) && (
        <Section id="when" title="When, and in what order">
          {job.strip && <Strip strip={job.strip} who="rank" />}
          {job.when && <When picture={job.when} />}
          {job.when && <Levels picture={job.when} />}
        </Section>
      )}
      {calls.length > 0 && (
        <Section id="mpi" title="What MPI takes" lede={`Call sites of MPI over all ranks. Bytes by the ${f.accounting} accounting.`}>
          <JobCalls job={job} calls={calls} />
          {f.traffic && <div class="grid2">
            {f.traffic.cells.length > 0 && <Matrix traffic={f.traffic} missing={f.missing.length} />}
            {f.traffic.sizes && <MessageSizes sites={[{ name: "All call sites", sizes: f.traffic.sizes },
              ...calls.filter((r) => r.sizes).map((r) => ({ name: titleOf(r, job.places[r.region - 1]!), sizes: r.sizes! }))]} />}
          </div>}
          {f.traffic?.unknown && <ul class="muted small">{f.traffic.unknown.map((u) => (
            <li key={u.why}>Not in the matrix: {u.why} ({count(u.sends ?? 0)} sent, {bytes(u.out ?? 0)}; {count(u.recvs ?? 0)} received, {bytes(u.in ?? 0)}).</li>
          ))}</ul>}
        </Section>
      )}
      <Section id="measurement" title="The measurement itself" lede="What measuring cost, what was lost, which ranks are missing.">
        <div class="tiles">
          <Tile name="Probes took" value={job.head.probe_ns === null ? "not known" : estimate(job.head.probe_lowered, seconds(job.head.probe_ns))}
            more={job.head.probe_ns === null ? "of all ranks" : `of all threads, ${job.head.adjusted ? "taken out of all times" : "in the times"}`} />
          <Tile name="Events lost" value={count(job.head.lost_events)} />
          <Tile name="Ranks not read" value={count(f.missing.length)} />
        </div>
        <Notes of={job.notes} />
        <p class="muted small">Region numbers are those of this page: the report of a single rank has its own.</p>
      </Section>
      <footer>Written by ompp-attach from the recorded profiles of the ranks. This page holds its figures and loads nothing.</footer>
    </Frame>
  );
}

const binLabel = (i: number, width: number) => (width === 1 ? String(i) : `${i * width} to ${(i + 1) * width - 1}`);

function Head({ job, title }: { job: Job; title: string }) {
  const h = job.head, f = job.figures;
  const sent = f.regions.filter((r) => r.construct === "MPI").reduce((t, r) => t + (r.figures[`outV_${f.accounting}`]?.sum ?? 0), 0);
  return (
    <header class="head" id="overview">
      <p class="eyebrow">ompp-attach - an MPI job</p>
      <h1>{title}</h1>
      <p class="lede">
        {plural(h.ranks, "rank")}{h.size > h.ranks ? ` of ${count(h.size)}` : ""} on {plural(h.hosts, "node")}{h.libraries.length > 0 && `, with ${h.libraries.join(", ")}`}.
      </p>
      {f.missing.length > 0 && <p class="banner">{plural(f.missing.length, "rank")} could not be read or {f.missing.length === 1 ? "is" : "are"} missing: see <a href="#measurement">the measurement</a>.</p>}
      {h.lost_events > 0 && <p class="banner">{plural(h.lost_events, "event")} were lost: counts are too low and times incomplete where that was.</p>}
      <div class="tiles">
        <Tile name="Wall time" value={seconds(h.wall_ns)} more="of the rank that ran longest" />
        <Tile name="Ranks x threads" value={`${count(h.ranks)} x ${h.threads % h.ranks ? (h.threads / h.ranks).toFixed(1) : h.threads / h.ranks}`} more={`${seconds(h.thread_ns)} of thread time`} />
        <Tile name="In MPI" value={percent(f.ranks.reduce((sum, r) => sum + r.mpi_ns, 0) / h.thread_ns)} more="of all threads' time" />
        {sent > 0 && <Tile name="Sent" value={bytes(sent)} more={`${f.accounting} accounting`} />}
      </div>
      {job.summary.length > 0 && <div class="card"><h2>What holds up the job</h2><dl>{job.summary.map((s) => [<dt key={s.name}>{s.name}</dt>, <dd>{s.text}</dd>])}</dl></div>}
      <Whole parts={job.whole} caption="The time of all threads of all ranks by class. Serial code and idle workers are derived: what is left beside all regions." />
    </header>
  );
}
