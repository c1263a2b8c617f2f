// Runs before the first paint. The key and the values are those of src/state/theme.ts.
(function () {
  var chosen = null;
  try {
    chosen = localStorage.getItem("local2.theme");
  } catch {
    // Storage may be off; the system's choice stands then.
  }
  if (chosen === "light" || chosen === "dark") {
    document.documentElement.dataset.theme = chosen;
  }
})();
