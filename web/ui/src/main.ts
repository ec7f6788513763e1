import "../style.css";
import { App } from "./app/app";

const host = document.getElementById("app");
if (host) new App(host).start();
