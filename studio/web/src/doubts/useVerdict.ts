import { useStudio } from "../state/studio";

/** Retract an answer, or keep it: it was looked at and is not shown again. */
export function useVerdict(after: () => void) {
  const studio = useStudio();
  return {
    retract: (number: number): void =>
      void studio.write("retract", { number }, {
        done: () => {
          studio.say("Retracted. Undo brings it back.");
          after();
        },
      }),
    keep: (numbers: readonly number[]): void =>
      void studio.write("keep", { numbers }, {
        done: () => {
          studio.say("Kept.");
          after();
        },
      }),
  };
}
