import { AnswerPage } from "../pages/AnswerPage";
import { ClusterPage } from "../pages/ClusterPage";
import { ClustersPage } from "../pages/ClustersPage";
import { DoubtsPage } from "../pages/DoubtsPage";
import { HistoryPage } from "../pages/HistoryPage";
import { MapPage } from "../pages/MapPage";
import { OpenPage } from "../pages/OpenPage";
import { ResultPage } from "../pages/ResultPage";
import { SortPage } from "../pages/SortPage";
import { route } from "../state/route";
import { useStudio } from "../state/studio";
import { Waiting } from "./Waiting";

/** The page of the address, once there is something to show on it. */
export function Page() {
  const state = useStudio().state.value;
  const { page, rest } = route.value;
  if (!state) return <p class="empty faint" role="status">One moment…</p>;
  if (state.phase === "failed" || state.phase === "empty" || page === "open") {
    return (
      <>
        {state.phase === "failed" && <p class="bad problem" role="alert">{state.message}</p>}
        <OpenPage />
      </>
    );
  }
  if (state.phase !== "ready") return <Waiting state={state} />;
  switch (page) {
    case "sort":
      return <SortPage />;
    case "map":
      return <MapPage />;
    case "clusters":
      return rest === "" ? <ClustersPage /> : <ClusterPage key={rest} number={Number(rest)} />;
    case "doubts":
      return <DoubtsPage />;
    case "history":
      return <HistoryPage />;
    case "result":
      return <ResultPage />;
    default:
      return <AnswerPage />;
  }
}
