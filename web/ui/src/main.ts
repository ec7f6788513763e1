import "../style.css";
import { Explore } from "./explore/explore";

const host = document.getElementById("app");
if (host) new Explore(host).start();
