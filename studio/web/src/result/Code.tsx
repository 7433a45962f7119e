import { useStudio } from "../state/studio";

/** Some lines of code, with a button that copies them. */
export function Code({ title, text }: { title: string; text: string }) {
  const studio = useStudio();
  const copy = (): void =>
    void navigator.clipboard
      .writeText(text)
      .then(() => studio.say("Copied."))
      .catch(() => studio.say("The browser does not allow copying here; mark the text and copy it yourself.", "bad"));
  return (
    <section aria-label={title}>
      <div class="row spread">
        <h2>{title}</h2>
        <button type="button" class="quiet" aria-label={`Copy: ${title}`} onClick={copy}>Copy</button>
      </div>
      <pre class="code" tabIndex={0} role="region" aria-label={`${title}: code`}>{text}</pre>
    </section>
  );
}
