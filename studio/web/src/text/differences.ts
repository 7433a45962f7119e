/** A stretch of a string and whether the other string has it in the same place. */
export interface Stretch {
  readonly text: string;
  readonly same: boolean;
  /** Different, but no more than is usual in its column. */
  readonly slight?: boolean;
}

export interface Differences {
  readonly left: readonly Stretch[];
  readonly right: readonly Stretch[];
}

/** Letters from which a text is read as a whole. */
const LONG_TEXT = 60;

/** Beyond this product of lengths no alignment is sought; only ends are compared. */
const MOST_WORK = 400_000;

/**
 * What two strings share and where they differ.
 *
 * Words are aligned by a longest common subsequence (letter case ignored, shown as it is); of
 * words that stand against each other only the letters between their common ends are marked.
 */
export function differences(left: string, right: string): Differences {
  const [a, b] = [words(left), words(right)];
  const out: { left: Stretch[]; right: Stretch[] } = { left: [], right: [] };
  const gap = { left: "", right: "" };
  const close = (): void => {
    const [l, r] = commonEnds(gap.left, gap.right);
    out.left.push(...l);
    out.right.push(...r);
    gap.left = gap.right = "";
  };
  for (const [i, j] of aligned(a, b)) {
    if (i >= 0 && j >= 0) {
      close();
      out.left.push({ text: a[i]!, same: true });
      out.right.push({ text: b[j]!, same: true });
    } else if (i >= 0) gap.left += a[i]!;
    else gap.right += b[j]!;
  }
  close();
  return { left: joined(out.left), right: joined(out.right) };
}

/** Whether marks tell anything: long texts that share little would be marked all over. */
export function worthMarking({ left, right }: Differences): boolean {
  const letters = (side: readonly Stretch[], wanted: (same: boolean) => boolean): number =>
    side.reduce((sum, { text, same }) => sum + (wanted(same) ? text.length : 0), 0);
  return [left, right].some((side) => {
    const all = letters(side, () => true);
    return all < LONG_TEXT || letters(side, (same) => same) >= all / 2;
  });
}

function words(text: string): string[] {
  return text.match(/\p{L}+|\p{N}+|\s+|[^\p{L}\p{N}\s]/gu) ?? [];
}

/** Pairs (i, j) of aligned words, -1 where one side has none, in reading order. */
function aligned(a: readonly string[], b: readonly string[]): [number, number][] {
  const [n, m] = [a.length, b.length];
  if (n * m > MOST_WORK) {
    return [...a.map((_, i): [number, number] => [i, -1]), ...b.map((_, j): [number, number] => [-1, j])];
  }
  const [low, high] = [a.map((word) => word.toLowerCase()), b.map((word) => word.toLowerCase())];
  const best = new Uint16Array((n + 1) * (m + 1));
  for (let i = n - 1; i >= 0; i--) {
    for (let j = m - 1; j >= 0; j--) {
      best[i * (m + 1) + j] =
        low[i] === high[j]
          ? best[(i + 1) * (m + 1) + j + 1]! + 1
          : Math.max(best[(i + 1) * (m + 1) + j]!, best[i * (m + 1) + j + 1]!);
    }
  }
  const pairs: [number, number][] = [];
  let [i, j] = [0, 0];
  while (i < n && j < m) {
    if (low[i] === high[j]) pairs.push([i++, j++]);
    else if (best[(i + 1) * (m + 1) + j]! >= best[i * (m + 1) + j + 1]!) pairs.push([i++, -1]);
    else pairs.push([-1, j++]);
  }
  while (i < n) pairs.push([i++, -1]);
  while (j < m) pairs.push([-1, j++]);
  return pairs;
}

function commonEnds(left: string, right: string): [Stretch[], Stretch[]] {
  const [l, r] = [Array.from(left), Array.from(right)];
  const shorter = Math.min(l.length, r.length);
  let head = 0;
  while (head < shorter && l[head]!.toLowerCase() === r[head]!.toLowerCase()) head++;
  let tail = 0;
  while (tail < shorter - head && l.at(-1 - tail)!.toLowerCase() === r.at(-1 - tail)!.toLowerCase()) tail++;
  const cut = (letters: string[]): Stretch[] => [
    { text: letters.slice(0, head).join(""), same: true },
    { text: letters.slice(head, letters.length - tail).join(""), same: false },
    { text: letters.slice(letters.length - tail).join(""), same: true },
  ];
  return [cut(l), cut(r)];
}

function joined(stretches: readonly Stretch[]): Stretch[] {
  const out: Stretch[] = [];
  for (const stretch of stretches) {
    const last = out.at(-1);
    if (!stretch.text) continue;
    if (last?.same === stretch.same) out[out.length - 1] = { text: last.text + stretch.text, same: last.same };
    else out.push(stretch);
  }
  return out;
}
