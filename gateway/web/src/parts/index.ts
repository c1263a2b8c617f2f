// The parts that this UI knows: importing this file registers them.

import "./answer";
import "./approval";
import "./thinking";
import "./tool";

export { viewOf } from "./registry";
