import { useStudio } from "../state/studio";

/** Short messages that go by themselves; screen readers hear them. */
export function Notices() {
  const studio = useStudio();
  return (
    <div class="notices" role="status" aria-live="polite">
      {studio.notices.value.map((notice) => (
        <div key={notice.id} class={`notice ${notice.tone}`}>
          <span>{notice.text}</span>
          <button type="button" class="quiet" aria-label="Dismiss" onClick={() => studio.dismiss(notice.id)}>✕</button>
        </div>
      ))}
    </div>
  );
}
