// What runs, and which models are there?

import { rest } from "../connection/rest";
import { bytes, duration, humanised } from "../state/words";
import type { ParticipantView, RoleView, Models } from "../wire/rest";
import { WithCode } from "./with-code";
import { usePolling } from "./use-polling";

const EVERY_MS = 2000;

export default function StatusPage() {
  const participants = usePolling(rest.participants, EVERY_MS);
  const models = usePolling(rest.models, EVERY_MS);
  const error = participants.error || models.error;
  return (
    // It scrolls and holds nothing to focus, so that the keyboard has to reach it.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <main className="page" tabIndex={0}>
      <div className="page-column">
        <h1>Status</h1>
        {error !== "" && (
          <p className="page-error" role="alert">
            {error}
          </p>
        )}
        {models.value !== null && <ModelsSection models={models.value} />}
        {models.value !== null && <ToolsSection models={models.value} />}
        {participants.value !== null && <Participants list={participants.value} />}
      </div>
    </main>
  );
}

function ModelsSection({ models }: { models: Models }) {
  const { backend } = models;
  return (
    <section className="card" aria-labelledby="backend">
      <h2 id="backend">Models</h2>
      <p className="backend">
        <State state={backend.kind === "none" ? "down" : backend.state} />
        <strong>{BACKENDS[backend.kind] ?? humanised(backend.kind)}</strong>
        {backend.url !== "" && <code>{backend.url}</code>}
        {backend.demo && <span className="demo-tag">demo</span>}
      </p>
      {backend.message !== "" && (
        <p className="muted">
          <WithCode text={backend.message} />
        </p>
      )}
      <Roles roles={models.roles} />
      <h3>Installed</h3>
      {models.models.length === 0 ? (
        <p className="muted">None yet.</p>
      ) : (
        <ul className="rows">
          {models.models.map((model) => (
            <li key={model.name}>
              <code className="row-name">{model.name}</code>
              {model.size_bytes > 0 && <span className="muted">{bytes(model.size_bytes)}</span>}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** What the model is told of, what it cannot use and why, and what had to be mended since the generator started. */
function ToolsSection({ models }: { models: Models }) {
  const counts = Object.entries(models.counts);
  return (
    <section className="card" aria-labelledby="tools">
      <h2 id="tools">Tools</h2>
      <p>
        {models.tools.length === 0 ? (
          "The model is told of none."
        ) : (
          <code>{models.tools.join(", ")}</code>
        )}
      </p>
      {models.refused.length > 0 && (
        <>
          <h3>Not usable</h3>
          <ul className="rows">
            {models.refused.map((refused) => (
              <li key={`${refused.name} ${refused.tool}`}>
                <code className="row-name">{refused.tool}</code>
                <span className="muted row-hint">{refused.reason}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      {counts.length > 0 && (
        <>
          <h3>Since the generator started</h3>
          <ul className="rows">
            {counts.map(([name, count]) => (
              <li key={name}>
                <span className="row-name">{humanised(name)}</span>
                <span className="number">{count}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

const BACKENDS: Record<string, string> = {
  ollama: "Ollama",
  embedded: "Embedded model",
  none: "No model server",
};

function Roles({ roles }: { roles: readonly RoleView[] }) {
  return (
    <>
      <h3>Roles</h3>
      <ul className="rows">
        {roles.map((role) => (
          <li key={role.role}>
            <span className="row-name">{role.role}</span>
            <code className="row-model">{role.model || "–"}</code>
            <State state={role.available ? "ready" : "missing"} />
            {role.hint !== "" && (
              <span className="muted row-hint">
                <WithCode text={role.hint} />
              </span>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

function Participants({ list }: { list: readonly ParticipantView[] }) {
  return (
    <section className="card" aria-labelledby="participants">
      <h2 id="participants">Participants</h2>
      <div className="table-scroll">
        <table className="data">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">State</th>
              <th scope="col">Kind</th>
              <th scope="col">Tool</th>
              <th scope="col" className="number">
                Process
              </th>
              <th scope="col" className="number">
                Up for
              </th>
              <th scope="col" className="number">
                Memory
              </th>
              <th scope="col" className="number">
                Restarts
              </th>
            </tr>
          </thead>
          <tbody>
            {list.map((participant) => (
              <Row key={`${participant.name} ${participant.pid ?? ""}`} one={participant} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Row({ one }: { one: ParticipantView }) {
  return (
    <tr>
      <th scope="row" title={`Sender ${one.sender_id}`}>
        {one.name}
        {one.reason !== "" && <p className="muted">{one.reason}</p>}
      </th>
      <td>
        <State state={one.state} />
      </td>
      <td className="muted">{one.kind}</td>
      <td>{one.tool === null || one.tool === "" ? "" : <code>{one.tool}</code>}</td>
      <td className="number">{one.pid ?? "–"}</td>
      <td className="number">{one.uptime_s === null ? "–" : duration(one.uptime_s)}</td>
      <td className="number">{one.rss_bytes === null ? "–" : bytes(one.rss_bytes)}</td>
      <td className="number">{one.restarts}</td>
    </tr>
  );
}

const GOOD = new Set(["ready", "running", "idle", "ok"]);
const BAD = new Set(["down", "fatal", "failed", "missing", "exited", "stopped", "lost"]);

function State({ state }: { state: string }) {
  const name = state.toLowerCase();
  const tone = GOOD.has(name) ? "good" : BAD.has(name) ? "bad" : "between";
  return (
    <span className="state" data-tone={tone}>
      {humanised(state)}
    </span>
  );
}
