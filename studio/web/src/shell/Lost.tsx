import { useStudio } from "../state/studio";

/** The server is gone, or was started anew; nothing that was acknowledged is lost. */
export function Lost() {
  const studio = useStudio();
  const connection = studio.connection.value;
  if (connection === "signed out") {
    return (
      <div class="lost" role="alert">
        The server was restarted. Open the address that the command printed; your answers are in its log.
      </div>
    );
  }
  if (connection !== "lost") return null;
  return (
    <div class="lost" role="alert">
      The server cannot be reached. Is the command still running? Answers given now are sent as soon as it is back.{" "}
      <button type="button" class="quiet" onClick={() => void studio.refresh()}>Try now</button>
    </div>
  );
}
