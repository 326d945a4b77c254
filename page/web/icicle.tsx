// Call paths from the top down. Width is inclusive thread time. The strip below a name shows the
// classes of that time.
import { hierarchy, partition, type HierarchyRectangularNode } from "d3-hierarchy";
import { useMemo, useRef, useState } from "preact/hooks";
import { Keys } from "./bar";
import { addParts, classes, nameOf, overheadOf, sumOf, worst } from "./classes";
import type { Node, Parts } from "./data";
import { Figure } from "./figure";
import { code, count, percent, seconds } from "./format";
import { Table } from "./table";
import { useWidth } from "./width";

interface Item { id: number; node: Node; children: Item[]; parts: Parts }
interface Props { nodes: Node[]; name: (region: number) => string; open: (region: number) => void }

const rowHeight = 34, narrow = 2.5; // pixels; narrower boxes are not drawn

// tree makes the items of the nodes, linked to each other. A parent precedes its children.
function tree(nodes: Node[]): Item[] {
  const items: Item[] = nodes.map((node, id) => ({ id, node, children: [], parts: { ...node.own } }));
  for (let i = items.length - 1; i > 0; i--) {
    const item = items[i]!, parent = items[item.node.parent]!;
    parent.children.unshift(item);
    parent.parts = addParts(parent.parts, item.parts);
  }
  return items;
}

export function Icicle({ nodes, name, open }: Props) {
  const items = useMemo(() => tree(nodes), [nodes]);
  const [top, setTop] = useState(0);
  const [mode, setMode] = useState<"time" | "overhead">("time");
  const svg = useRef<SVGSVGElement>(null);
  const [around, width] = useWidth<HTMLDivElement>(560);
  const weigh = (item: Item) => (mode === "time" ? item.node.width_ns : overheadOf(item.parts));
  const layout = useMemo(() => {
    const own = (i: Item) => Math.max(0, weigh(i) - i.children.reduce((t, c) => t + weigh(c), 0));
    const root = hierarchy(items[top]!, (i) => i.children).sum(own).sort((a, b) => (b.value ?? 0) - (a.value ?? 0));
    return partition<Item>().size([width, (root.height + 1) * rowHeight])(root);
  }, [items, top, mode, width]);
  const shown = layout.descendants().filter((d) => d.x1 - d.x0 >= narrow);
  const hidden = layout.descendants().length - shown.length;
  const whole = weigh(items[0]!);
  const heaviest = items.slice(1).reduce<Item | undefined>((m, i) => (m && m.node.width_ns >= i.node.width_ns ? m : i), undefined);
  const title = heaviest && whole > 0
    ? `${percent(heaviest.node.width_ns / items[0]!.node.width_ns)} of the time in regions and serial code is below ${name(heaviest.node.region)}`
    : "No region was executed";
  const key = (e: KeyboardEvent, d: HierarchyRectangularNode<Item>) => {
    const ways: Record<string, () => HierarchyRectangularNode<Item> | null | undefined> = {
      ArrowUp: () => d.parent, ArrowDown: () => d.children?.[0], ArrowRight: () => beside(d, 1), ArrowLeft: () => beside(d, -1),
    };
    const next = ways[e.key]?.();
    if (e.key === "Enter" || e.key === " ") { e.preventDefault(); setTop(d.data.id); return; }
    if (e.key === "Escape") { setTop(items[top]!.node.parent < 0 ? 0 : items[top]!.node.parent); return; }
    if (!e.key.startsWith("Arrow")) return;
    e.preventDefault();
    if (next) svg.current?.querySelector<SVGElement>(`[data-id="${next.data.id}"]`)?.focus();
  };
  const height = Math.max(...shown.map((d) => d.depth)) + 1;
  return (
    <Figure title={title} numbers={() => (
      <Table rows={items.slice(1)} id={(i) => i.id} sort={2} label="Call paths" text={(i) => path(items, i.id, name)} columns={[
        { title: "Path", cell: (i) => path(items, i.id, name), class: "place" },
        { title: "Executions", cell: (i) => count(i.node.execs), by: (i) => i.node.execs, number: true },
        { title: "Inclusive", cell: (i) => seconds(i.node.width_ns), by: (i) => i.node.width_ns, number: true },
        { title: "Exclusive", cell: (i) => seconds(sumOf(i.node.own)), by: (i) => sumOf(i.node.own), number: true },
        { title: "Overhead", cell: (i) => seconds(overheadOf(i.parts)), by: (i) => overheadOf(i.parts), number: true },
      ]} />
    )} caption="Width is time summed over threads, workers of the teams below included; the program's own width is serial code. The strip shows the classes of the box and all below. A click, or Enter, zooms in; Escape zooms out; arrows move.">
      <div class="tools">
        <button type="button" aria-pressed={mode === "time"} onClick={() => setMode("time")}>All time</button>
        <button type="button" aria-pressed={mode === "overhead"} onClick={() => setMode("overhead")}>Overhead only</button>
        {top !== 0 && <button type="button" onClick={() => setTop(0)}>Whole program</button>}
        {top !== 0 && items[top]!.node.region > 0 && <a href="#regions" onClick={() => open(items[top]!.node.region)}>Open {code(items[top]!.node.region)}</a>}
      </div>
      {whole > 0 ? (
        <div class="scroll" ref={around}><svg ref={svg} class="chart icicle" style="min-width:560px" viewBox={`0 0 ${width} ${height * rowHeight}`} role="tree" aria-label="Call paths">
          {shown.map((d, i) => <Box key={d.data.id} d={d} first={i === 0} label={name(d.data.node.region)} whole={whole} weight={weigh(d.data)}
            onClick={() => setTop(d.data.id)} onKey={(e) => key(e, d)} />)}
        </svg></div>
      ) : <p class="muted">There is nothing to draw.</p>}
      {hidden > 0 && <p class="muted small">{count(hidden)} more, too narrow to draw: the numbers have all.</p>}
      <Keys of={[items[0]!.parts]} />
    </Figure>
  );
}

const beside = (d: HierarchyRectangularNode<Item>, by: number) => {
  const siblings = d.parent?.children ?? [];
  return siblings[siblings.indexOf(d) + by];
};

function path(items: Item[], id: number, name: (region: number) => string): string {
  const names: string[] = [];
  for (let at = id; at > 0; at = items[at]!.node.parent) names.unshift(name(items[at]!.node.region));
  return names.join(" > ");
}

interface BoxProps {
  d: HierarchyRectangularNode<Item>; first: boolean; label: string; whole: number; weight: number;
  onClick: () => void; onKey: (e: KeyboardEvent) => void;
}

function Box({ d, first, label, whole, weight, onClick, onKey }: BoxProps) {
  const w = d.x1 - d.x0, y = d.depth * rowHeight, parts = d.data.parts, sum = sumOf(parts);
  const most = worst(parts);
  let at = d.x0 + 1;
  return (
    <g class="node" role="treeitem" tabindex={first ? 0 : -1} data-id={d.data.id} onClick={onClick} onKeyDown={onKey}
      aria-label={`${label}, ${seconds(weight)}`}
      data-tip={`${label}\n${seconds(weight)}, ${percent(weight / whole)}\nown: ${seconds(sumOf(d.data.node.own))}${most ? `\nmost overhead: ${nameOf(most)} ${seconds(parts[most]!)}` : ""}`}>
      <rect x={d.x0} y={y} width={w} height={rowHeight - 2} rx="3" fill="var(--sunken)" stroke="var(--surface)" />
      {classes.map(({ key }) => {
        const t = parts[key] ?? 0;
        if (t <= 0 || sum <= 0) return null;
        const x = at, part = ((w - 2) * t) / sum;
        at += part;
        return <rect key={key} class={`c-${key}`} x={x} y={y + rowHeight - 11} width={part} height="8" />;
      })}
      {w > 30 && <svg x={d.x0 + 5} y={y} width={w - 8} height={rowHeight}><text y="15" font-size="11.5">{label}</text></svg>}
    </g>
  );
}
