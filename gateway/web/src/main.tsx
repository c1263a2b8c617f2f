// Where does the UI begin?

import "@fontsource-variable/inter/wght.css";
import "./styles/index.css";

import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { App } from "./components/app";
import { ChatClient } from "./connection/client";
import { rest } from "./connection/rest";
import { createStore } from "./state/store";

const scheme = location.protocol === "https:" ? "wss" : "ws";
const store = createStore();
const client = new ChatClient({ store, rest, url: `${scheme}://${location.host}/ws/chat` });

addEventListener("online", () => client.hurry());
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) {
    client.hurry();
    void client.refreshList();
  }
});
client.start();

const root = document.getElementById("root");
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <App local2={{ store, client }} />
    </StrictMode>,
  );
}
