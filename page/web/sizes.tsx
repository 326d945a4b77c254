// Sizes of messages: a histogram by powers of two.
import { useState } from "preact/hooks";
import type { Sizes } from "./data";
import { Figure } from "./figure";
import { bytes, count, percent } from "./format";
import { Table } from "./table";

const kinds: [keyof Sizes, string, string][] = [["sent", "Sent", "messages sent"], ["received", "Received", "messages received"], ["moved", "Collective", "collective operations"]];

interface Bin { from: number; n: number }

export function MessageSizes({ sites }: { sites: { name: string; sizes: Sizes }[] }) {
  const [site, setSite] = useState(0);
  const [asked, setAsked] = useState<keyof Sizes>();
  const z = sites[site]!.sizes, there = kinds.filter(([k]) => z[k]?.length);
  const kind = there.find(([k]) => k === asked) ?? there[0];
  if (!kind) return null;
  const numbers = z[kind[0]]!, all = numbers.reduce((t, n) => t + n, 0);
  const first = numbers.findIndex((n) => n > 0);
  const list: Bin[] = numbers.slice(first).map((n, i) => ({ from: first + i === 0 ? 0 : 2 ** (first + i - 1), n }));
  const top = list.reduce((m, b) => (b.n > m.n ? b : m), list[0]!);
  const what = (b: Bin) => (b.from === 0 ? "0 B" : b.from === 1 ? "1 B" : `${power(b.from)} to ${power(2 * b.from)}`);
  return (
    <Figure title={`${top.n === all ? "All" : `${percent(top.n / all)} of`} ${kind[2]} are of ${what(top)}`}
      caption={`Number of ${kind[2]} by size, in powers of two; the upper end belongs to the next bar.${kind[0] === "moved" ? " The size is that of what goes to or comes from one process; of operations with an array of counts, the array's sum." : kind[0] === "received" ? " The size is that asked for." : ""}`}
      numbers={() => (
        <Table rows={list} id={(b) => b.from} label="Messages by size" columns={[
          { title: "From", cell: (b) => power(b.from), by: (b) => b.from, number: true },
          { title: "Number", cell: (b) => count(b.n), by: (b) => b.n, number: true },
          { title: "of all", cell: (b) => percent(b.n / all), by: (b) => b.n, number: true },
        ]} />
      )}>
      <div class="tools">
        {sites.length > 1 && <select aria-label="Call site" value={site} onChange={(e) => setSite(Number(e.currentTarget.value))}>{sites.map((s, i) => <option key={i} value={i}>{s.name}</option>)}</select>}
        {there.map(([k, name]) => <button key={k} type="button" aria-pressed={k === kind[0]} onClick={() => setAsked(k)}>{name}</button>)}
      </div>
      <div class="sizes">
        {list.map((b) => [
          <span key={`t${b.from}`} class="muted">{what(b)}</span>,
          <span key={`b${b.from}`} class="sizebar"><i style={`width:${100 * b.n / top.n}%`} data-n={b.n} data-from={b.from} /></span>,
          <span key={`n${b.from}`}>{count(b.n)}</span>,
        ])}
      </div>
    </Figure>
  );
}

// power prints a power of two.
const power = (n: number) => bytes(n).replace(/\.0+ /, " ");

// total adds up the sizes of call sites.
export function total(all: Sizes[]): Sizes {
  const out: Sizes = {};
  for (const z of all) {
    for (const [k] of kinds) z[k]?.forEach((n, i) => { const sum = (out[k] ??= []); while (sum.length <= i) sum.push(0); sum[i]! += n; });
  }
  return out;
}
