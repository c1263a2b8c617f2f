import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// `npm run dev` shows the sources beside a running gateway.
const gateway = process.env["LOCAL2_GATEWAY"] ?? "http://127.0.0.1:7800";

// The gateway answers its own page only, so that the dev server speaks in its name.
const toGateway = { target: gateway, changeOrigin: true, headers: { origin: gateway } };

export default defineConfig({
  base: "/",
  plugins: [react()],
  build: {
    outDir: "dist",
    target: "es2022",
    // An inlined asset is a data: address, which the Content-Security-Policy refuses for fonts.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 600,
  },
  server: {
    host: "127.0.0.1",
    proxy: {
      "/api": toGateway,
      "/health": toGateway,
      "/ws": { ...toGateway, ws: true },
    },
  },
  test: {
    environment: "jsdom",
    include: ["src/**/*.test.{ts,tsx}"],
    setupFiles: ["src/test-setup.ts"],
    restoreMocks: true,
  },
});
