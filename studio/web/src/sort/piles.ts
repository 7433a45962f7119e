/** Which pile each row of a set question lies in; 0 is the table, where nobody can tell yet. */
export type Piles = ReadonlyMap<number, number>;

/** As many as there are keys 1 to 9. */
export const MOST_PILES = 9;

export function onTheTable(rows: readonly number[]): Piles {
  return new Map(rows.map((row) => [row, 0]));
}

export function put(piles: Piles, row: number, pile: number): Piles {
  return new Map(piles).set(row, pile);
}

/** Rows of a pile, in the order of the question. */
export function rowsOf(piles: Piles, pile: number): number[] {
  return [...piles].filter(([, at]) => at === pile).map(([row]) => row);
}

/** The piles shown: those in use and one empty one to start. */
export function shownPiles(piles: Piles): number[] {
  const used = Math.max(0, ...piles.values());
  return Array.from({ length: Math.min(MOST_PILES, Math.max(used + 1, 2)) }, (_, at) => at + 1);
}

/** What is sent: piles that hold something; rows on the table are left out. */
export function asAnswer(piles: Piles): number[][] {
  return shownPiles(piles)
    .map((pile) => rowsOf(piles, pile))
    .filter((rows) => rows.length > 0);
}

/** The next row that still lies on the table, after `row`; the row itself if there is none. */
export function nextOnTable(piles: Piles, row: number): number {
  const order = [...piles.keys()];
  const from = order.indexOf(row);
  const turned = [...order.slice(from + 1), ...order.slice(0, from)];
  return turned.find((other) => piles.get(other) === 0) ?? row;
}
