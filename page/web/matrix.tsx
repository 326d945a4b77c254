// The partner matrix of a job: who sends how much to whom.
import { useState } from "preact/hooks";
import type { Traffic } from "./data";
import { Figure } from "./figure";
import { bytes, count, percent } from "./format";
import { Table } from "./table";
import { useWidth } from "./width";

// The number of shades, and the number of cells up to which each cell has a tip of its own.
const levels = 12, fewCells = 4096;

interface Props { traffic: Traffic; missing: number }

export function Matrix({ traffic, missing }: Props) {
  const [by, setBy] = useState(3);
  const [around, space] = useWidth<HTMLDivElement>(320);
  const { width, bins, cells } = traffic;
  const names = 44, side = Math.min(space - names - 12, 620), cell = side / bins;
  const most = cells.reduce((m, c) => Math.max(m, c[by]!), 0);
  const level = (v: number) => (most <= 1 ? levels : Math.max(1, Math.ceil(levels * Math.log1p(v) / Math.log1p(most))));
  const opacity = (l: number) => 0.08 + 0.92 * l / levels;
  const ranks = (i: number) => (width === 1 ? String(i) : `${i * width} to ${(i + 1) * width - 1}`);
  const every = Math.max(1, Math.ceil(26 / cell));
  const square = (c: number[]) => `M${names + c[1]! * cell} ${c[0]! * cell}h${cell}v${cell}h${-cell}z`;
  const byLevel = Array.from({ length: levels + 1 }, (_, l) => cells.filter((c) => c[by]! > 0 && level(c[by]!) === l));
  return (
    <Figure title={finding(traffic, missing)}
      caption={`Rows send, columns receive; ranks of MPI_COMM_WORLD. The colour is the logarithm of ${by === 3 ? "the bytes" : "the number of messages"}, by the senders' records.${width > 1 ? ` A cell holds ${width} neighbouring ranks in either direction.` : ""}${traffic.at_least ? " Messages to unknown ranks are in no cell." : ""}${missing > 0 ? " Rows of ranks that were not read are empty." : ""}`}
      numbers={() => (
        <Table rows={traffic.heaviest} id={(p) => `${p.from} ${p.to}`} label={traffic.at_least ? "Of the known pairs of ranks, those with most bytes" : "The pairs of ranks with most bytes"} sort={3} columns={[
          { title: "From", cell: (p) => p.from, by: (p) => p.from, number: true },
          { title: "To", cell: (p) => p.to, by: (p) => p.to, number: true },
          { title: "Messages", cell: (p) => count(p.messages), by: (p) => p.messages, number: true },
          { title: "Bytes", cell: (p) => bytes(p.bytes), by: (p) => p.bytes, number: true },
          { title: traffic.at_least ? "of known" : "of all", cell: (p) => percent(p.bytes / traffic.bytes), by: (p) => p.bytes, number: true },
        ]} />
      )}>
      <div class="tools">
        <button type="button" aria-pressed={by === 3} onClick={() => setBy(3)}>Bytes</button>
        <button type="button" aria-pressed={by === 2} onClick={() => setBy(2)}>Messages</button>
      </div>
      <div class="scroll" ref={around}>
        <svg class="chart matrix" style={`width:${names + side + 12}px;max-width:100%`} viewBox={`0 0 ${names + side + 12} ${side + 34}`} role="img" aria-label={`${finding(traffic, missing)}. The numbers are below.`}>
          <rect class="empty" x={names} y="0" width={side} height={side} />
          {cells.length <= fewCells
            ? cells.filter((c) => c[by]! > 0).map((c) => (
              <path key={`${c[0]} ${c[1]}`} class="heat" d={square(c)} fill-opacity={opacity(level(c[by]!))} data-cell={c.join(" ")}
                data-tip={`From ${ranks(c[0]!)} to ${ranks(c[1]!)}\n${count(c[2]!)} messages, ${bytes(c[3]!)}`} />
            ))
            : byLevel.map((list, l) => list.length > 0 && <path key={l} class="heat" d={list.map(square).join("")} fill-opacity={opacity(l)} />)}
          {Array.from({ length: bins }, (_, i) => i % every === 0 && [
            <text key={`y${i}`} class="dim" x={names - 6} y={(i + 0.5) * cell + 4} text-anchor="end" font-size="10.5">{i * width}</text>,
            <text key={`x${i}`} class="dim" x={names + (i + 0.5) * cell} y={side + 14} text-anchor="middle" font-size="10.5">{i * width}</text>,
          ])}
          <text class="dim" x={names + side / 2} y={side + 30} text-anchor="middle" font-size="11">receiving rank</text>
          <text class="dim" transform={`translate(10 ${side / 2}) rotate(-90)`} text-anchor="middle" font-size="11">sending rank</text>
        </svg>
      </div>
    </Figure>
  );
}

// finding says what stands out in a matrix. missing is the number of ranks that could not be read.
function finding({ cells, bins, width, bytes: all, at_least: atLeast, heaviest, pairs, receivers }: Traffic, missing: number): string {
  const part = (n: number) => `${percent(n / all)} of the bytes ${atLeast ? "to known ranks" : "of messages"}`;
  const sent = new Map<number, number>(), far = new Map<number, number>();
  for (const [from, to, , n] of cells) {
    sent.set(from!, (sent.get(from!) ?? 0) + n!);
    const apart = (((to! - from!) % bins) + bins) % bins, distance = apart > bins / 2 ? apart - bins : apart; // the shorter way round
    far.set(distance, (far.get(distance) ?? 0) + n!);
  }
  const top = heaviest[0];
  if (all > 0 && top && pairs > 2 && top.bytes > 3 * all / pairs && top.bytes > 0.2 * all) return `From rank ${top.from} to rank ${top.to}: ${part(top.bytes)}`;
  const [most, n] = [...sent].reduce((m, x) => (x[1] > m[1] ? x : m), [0, 0]);
  if (width === 1 && bins > 2 && all > 0 && n > 3 * all / bins) return `Rank ${most} sends ${part(n)}`;
  const near: number[] = [];
  let reached = 0;
  for (const [distance, n] of [...far].sort((a, b) => b[1] - a[1]).slice(0, 4)) {
    if (reached > 0.9 * all) break;
    near.push(distance);
    reached += n;
  }
  if (width === 1 && all > 0 && bins > 4 && reached > 0.9 * all) return `${part(reached)} go to ranks at ${near.length === 1 ? "a distance" : "distances"} of ${near.join(", ")}`;
  if (width === 1 && missing === 0 && bins > 2 && receivers.min === bins - 1) return "All ranks send to all others";
  const range = receivers.min === receivers.max ? count(receivers.max) : `${count(receivers.min)} to ${count(receivers.max)}`;
  return `A rank sends to ${atLeast ? "at least " : ""}${range} ${receivers.max === 1 ? "other" : "others"}`;
}
