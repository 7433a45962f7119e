import { useStudio } from "../state/studio";

/** Whether it is time to stop, with the forecast; there only when there is something to say. */
export function StopHint() {
  const advice = useStudio().state.value?.advice;
  if (!advice?.words) return null;
  return (
    <p class={advice.stop ? "hint stop" : "hint"} role="status">
      {advice.stop && <strong>You may stop here. </strong>}
      {advice.words}
    </p>
  );
}
