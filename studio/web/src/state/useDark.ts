import { useEffect, useState } from "preact/hooks";

const QUERY = "(prefers-color-scheme: dark)";

/** Whether the person's system is dark; pictures on a canvas need to know. */
export function useDark(): boolean {
  const [dark, setDark] = useState(() => matchMedia(QUERY).matches);
  useEffect(() => {
    const query = matchMedia(QUERY);
    const follow = (): void => setDark(query.matches);
    query.addEventListener("change", follow);
    return () => query.removeEventListener("change", follow);
  }, []);
  return dark;
}
