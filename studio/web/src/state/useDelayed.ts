import { useEffect, useState } from "preact/hooks";

/** The value after it has stood still for a moment: searching waits until typing pauses. */
export function useDelayed<T>(value: T, milliseconds = 180): T {
  const [delayed, setDelayed] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDelayed(() => value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return delayed;
}
