// POP's efficiencies as a tree of boxes: a metric is the product of the metrics below it.
import type { Efficiency } from "./data";
import { Figure } from "./figure";
import { code, percent } from "./format";
import { Table } from "./table";

interface Props { root: Efficiency | null; untold?: string; open: (region: number) => void; name: (region: number) => string }

const grade = (v: number) => (v < 0.6 ? "poor" : v < 0.8 ? "fair" : "good");

export function EfficiencyTree({ root, untold, open, name }: Props) {
  if (!root) return <p class="banner">{untold}</p>;
  const all = list(root, 0);
  const leaves = all.filter((m) => !m.m.of);
  const worst = leaves.reduce((a, b) => (b.m.value < a.m.value ? b : a)).m;
  const title = `${percent(root.value)} of all threads' time was useful; the lowest factor is ${worst.name.replace(/^(?!MPI|OpenMP)./, (c) => c.toLowerCase())} (${worst.value.toFixed(2)})`;
  return (
    <Figure title={root.value > 0.95 ? `${percent(root.value)} of all threads' time was useful` : title}
      caption={`POP's metrics, derived from the recorded times${root.of && root.of.length > 2 ? " without the start and the end of MPI" : ""}. A value is the product of the pair below it, and 1 is best${root.of && root.of.length > 2 ? "; the first one is so in two ways, and OpenMP's are quotients that can exceed 1" : ""}. Below 0.6 is poor, below 0.8 fair.`} numbers={() => (
        <Table rows={all} id={(x) => x.m.key} label="Efficiencies" columns={[
          { title: "Metric", cell: (x) => <span style={`padding-left:${1.2 * x.depth}rem`}>{x.m.name}</span> },
          { title: "Value", cell: (x) => x.m.value.toFixed(3), number: true },
          { title: "Costs most in", cell: (x) => (x.m.region ? `${code(x.m.region)} ${name(x.m.region)}` : "") },
        ]} />
      )}>
      <div class="poptree"><Branch m={root} open={open} name={name} /></div>
    </Figure>
  );
}

function Branch({ m, open, name }: { m: Efficiency } & Omit<Props, "root" | "untold">) {
  return (
    <div class="branch">
      <div class={`metric ${grade(m.value)}`} data-value={m.value} data-tip={m.region ? `${m.name}\ncosts most in ${name(m.region)}` : m.name}>
        <b>{m.value.toFixed(2)}</b><span>{m.name}</span>
        {m.region ? <a class="small" href="#regions" onClick={() => open(m.region!)}>{code(m.region)}</a> : null}
      </div>
      {m.of && <div class="below">{m.of.map((x) => <Branch key={x.key} m={x} open={open} name={name} />)}</div>}
    </div>
  );
}

const list = (m: Efficiency, depth: number): { m: Efficiency; depth: number }[] => [{ m, depth }, ...(m.of ?? []).flatMap((x) => list(x, depth + 1))];
