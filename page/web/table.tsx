// A table that sorts by its columns, filters, and stays quick with many rows.
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";

export interface Column<T> {
  title: string;
  tip?: string;
  cell: (row: T) => ComponentChildren;
  by?: (row: T) => number | string; // absent: the table does not sort by this column
  number?: boolean;
  class?: string;
}

interface Props<T> {
  rows: T[];
  columns: Column<T>[];
  id: (row: T) => string | number;
  sort?: number; // the column by which the table is sorted at first, the greatest value on top
  ascending?: boolean;
  text?: (row: T) => string; // the text that the filter searches; absent: no filter
  filter?: string; // the text to search; absent: the table has a field for this text
  panel?: (row: T) => ComponentChildren; // the contents of an opened row
  opened?: string | number;
  onOpen?: (id: string | number | undefined) => void;
  label: string;
}

// step is the number of rows that are added at a time.
const step = 40;

export function Table<T>({ rows, columns, id, sort, ascending, text, filter, panel, opened, onOpen, label }: Props<T>) {
  const [by, setBy] = useState({ column: sort ?? -1, up: ascending ?? false });
  const [query, setQuery] = useState("");
  const [shown, setShown] = useState(step);
  const wanted = (filter ?? query).trim().toLowerCase();
  const sorted = useMemo(() => {
    let out = wanted && text ? rows.filter((r) => text(r).toLowerCase().includes(wanted)) : rows.slice();
    const key = columns[by.column]?.by;
    if (key) {
      const sign = by.up ? 1 : -1;
      out = out.map((r) => [key(r), r] as const).sort((a, b) => (a[0] < b[0] ? -sign : a[0] > b[0] ? sign : 0)).map((x) => x[1]);
    }
    return out;
  }, [rows, wanted, by.column, by.up]);
  let visible = sorted.slice(0, shown);
  const at = opened === undefined ? undefined : sorted.find((r) => id(r) === opened);
  if (at && !visible.includes(at)) visible = [...visible, at];
  return (
    <>
      {text && filter === undefined && (rows.length > 8 || query) && (
        <div class="tools">
          <input type="search" placeholder={`Filter ${rows.length} rows`} aria-label={`Filter ${label}`} value={query}
            onInput={(e) => setQuery(e.currentTarget.value)} />
          {wanted && <span class="muted small" role="status">{sorted.length} of {rows.length}</span>}
        </div>
      )}
      <div class="scroll">
        <table aria-label={label}>
          <thead><tr>{columns.map((c, i) => (
            <th key={c.title} scope="col" class={[c.number ? "n" : "", c.class ?? ""].join(" ").trim() || undefined} data-tip={c.tip}
              aria-sort={c.by ? (by.column === i ? (by.up ? "ascending" : "descending") : "none") : undefined}>
              {c.by ? <button type="button" onClick={() => setBy({ column: i, up: by.column === i ? !by.up : !c.number })}>{c.title}</button> : c.title}
            </th>
          ))}</tr></thead>
          <tbody>{visible.map((r) => {
            const k = id(r), open = panel !== undefined && opened === k;
            return [
              <tr key={k} id={panel ? `row-${k}` : undefined} class={open ? "open" : undefined}>
                {columns.map((c, i) => (
                  <td key={c.title} class={[c.number ? "n" : "", c.class ?? ""].join(" ").trim() || undefined}>
                    {i === 0 && panel
                      ? <button type="button" class="rowbutton" aria-expanded={open} onClick={() => onOpen?.(open ? undefined : k)}>{c.cell(r)}</button>
                      : c.cell(r)}
                  </td>
                ))}
              </tr>,
              open && <tr key={`${k}-panel`} class="panel"><td colSpan={columns.length}>{panel(r)}</td></tr>,
            ];
          })}</tbody>
        </table>
      </div>
      {sorted.length > shown && (
        <p><button type="button" class="plainbutton" onClick={() => setShown(shown + 5 * step)}>
          Show more ({shown} of {sorted.length} shown)
        </button></p>
      )}
    </>
  );
}
