// The table of a job's regions.
import { Bar, Keys } from "./bar";
import { partsOf, type Job, type JobRegion } from "./data";
import { code, count, percent, seconds } from "./format";
import { Table, type Column } from "./table";

interface Props { job: Job; opened?: string | number; onOpen: (id: string | number | undefined) => void }

const readings: Record<string, string> = {
  trade: "MPI time and waiting make up for each other", MPI: "time in MPI varies most", waiting: "waiting within ranks varies most",
  "no core": "time without a core varies most", counts: "work goes with how often something was executed", volumes: "work goes with the bytes exchanged",
  loose: "counts or volumes differ too, but not in step", "time only": "counts and volumes are alike: only the time differs", "too few ranks": "too few ranks for a correlation",
};

const partsOfRegion = (r: JobRegion) => partsOf((f) => r.figures[f]?.sum);
const exec = (r: JobRegion) => r.figures.execT;

export function JobRegions({ job, opened, onOpen }: Props) {
  const regions = job.figures.regions, place = (r: JobRegion) => job.places[r.region - 1]!;
  const longest = Math.max(1, ...regions.map((r) => exec(r)?.sum ?? 0));
  const columns: Column<JobRegion>[] = [
    { title: "Region", cell: (r) => code(r.region), by: (r) => r.region },
    { title: "Construct", cell: (r) => r.construct, by: (r) => r.construct },
    { title: "Place", cell: place, by: place, class: "place" },
    { title: "Time by part", cell: (r) => <Bar parts={partsOfRegion(r)} scale={longest} label={`${code(r.region)} ${place(r)}`} />, class: "barcell" },
    { title: "Inclusive", cell: (r) => seconds(exec(r)?.sum ?? 0), by: (r) => exec(r)?.sum ?? 0, number: true, tip: "execT: summed over threads and ranks" },
    { title: "Overhead", cell: (r) => seconds(r.figures.overhead?.sum ?? 0), by: (r) => r.figures.overhead?.sum ?? 0, number: true, class: "opt", tip: "The region's own, without the regions inside" },
    { title: "Least", cell: (r) => extreme(exec(r)?.min, exec(r)?.min_rank), by: (r) => exec(r)?.min ?? 0, number: true, tip: "Of a rank; the rank in brackets" },
    { title: "Most", cell: (r) => extreme(exec(r)?.max, exec(r)?.max_rank), by: (r) => exec(r)?.max ?? 0, number: true, tip: "Of a rank; the rank in brackets" },
    { title: "Deviation", cell: (r) => seconds(exec(r)?.stddev ?? 0), by: (r) => exec(r)?.stddev ?? 0, number: true, class: "opt", tip: "Standard deviation over ranks" },
  ];
  return (
    <div class="card">
      <Table rows={regions} columns={columns} id={(r) => r.region} sort={4} label="Regions" opened={opened} onOpen={onOpen}
        text={(r) => `${code(r.region)} ${r.construct} ${place(r)} ${r.name ?? ""}`} panel={(r) => <Panel job={job} r={r} />} />
      <Keys of={regions.map(partsOfRegion)} />
    </div>
  );
}

const extreme = (v: number | undefined, rank: number | undefined) => (v === undefined ? "-" : `${seconds(v)} (${rank})`);

const times: [string, string][] = [["execT", "the whole construct"], ["wallT", "of the thread that was in it longest"], ["workT", "in no class of overhead"], ["synchT", "Synchronisation"],
  ["imbalT", "Imbalance"], ["limparT", "Limited parallelism"], ["mgmtT", "Management"], ["mpiT", "in MPI"], ["noCoreT", "without a core"], ["enterT", "getting in, or starting the team"], ["bodyT", "the inner part"], ["exitBarT", "the implicit barrier"], ["exitT", "leaving"]];

function Panel({ job, r }: { job: Job; r: JobRegion }) {
  const f = job.figures, by = f.by_rank.regions.find((x) => x.region === r.region);
  const counts = ["execC", "bodyC", "calls", "sendC", "recvC", "collC"].filter((k) => r.figures[k]);
  return (
    <div class="panelbody">
      <p>{count(r.reached)} of {count(f.ranks.length)} ranks executed it.{r.reading && ` What differences go with: ${readings[r.reading] ?? r.reading}.`}{r.lossy ? ` ${count(r.lossy)} events were lost in it.` : ""}</p>
      <div class="scroll"><table>
        <thead><tr><th>Figure</th><th>Meaning</th><th class="n">Sum</th><th class="n">Least (rank)</th><th class="n">Mean</th><th class="n">Most (rank)</th><th class="n">Variation</th></tr></thead>
        <tbody>
          {times.filter(([k]) => r.figures[k]).map(([k, says]) => {
            const s = r.figures[k]!;
            return <tr key={k}><td>{k}</td><td class="muted">{says}</td><td class="n">{seconds(s.sum)}</td><td class="n">{extreme(s.min, s.min_rank)}</td><td class="n">{seconds(s.mean)}</td><td class="n">{extreme(s.max, s.max_rank)}</td><td class="n">{percent(s.stddev / s.mean)}</td></tr>;
          })}
          {counts.map((k) => {
            const s = r.figures[k]!;
            return <tr key={k}><td>{k}</td><td class="muted">count</td><td class="n">{count(s.sum)}</td><td class="n">{count(s.min)} ({s.min_rank})</td><td class="n">{count(Math.round(s.mean))}</td><td class="n">{count(s.max)} ({s.max_rank})</td><td class="n">{percent(s.stddev / s.mean)}</td></tr>;
          })}
          {Object.entries(r.counters ?? {}).map(([k, s]) => (
            <tr key={k}><td>{k}</td><td class="muted">counter</td><td class="n">{count(s.sum)}</td><td class="n">{count(s.min)} ({s.min_rank})</td><td class="n">{count(Math.round(s.mean))}</td><td class="n">{count(s.max)} ({s.max_rank})</td><td class="n">{percent(s.stddev / s.mean)}</td></tr>
          ))}
        </tbody>
      </table></div>
      {by && f.by_rank.width === 1 && f.ranks.length <= 64 && <ByRank job={job} figures={by.figures} />}
    </div>
  );
}

function ByRank({ job, figures }: { job: Job; figures: Record<string, number[]> }) {
  const longest = Math.max(1, ...(figures.execT ?? []));
  return (
    <div>
      <h3>By rank</h3>
      <table><thead><tr><th>Rank</th><th>Time by part</th><th class="n">Inclusive</th></tr></thead>
        <tbody>{job.figures.ranks.map(({ rank }) => (
          <tr key={rank}><td>{rank}</td><td class="barcell"><Bar parts={partsOf((k) => figures[k]?.[rank])} scale={longest} label={`Rank ${rank}`} /></td><td class="n">{seconds(figures.execT?.[rank] ?? 0)}</td></tr>
        ))}</tbody></table>
    </div>
  );
}
