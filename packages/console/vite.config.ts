import { defineConfig } from "vite";

export default defineConfig({
  base: "/console/",
  // Command-line tools in the same `node_modules` depend on an older React, which must not get into the page.
  resolve: { dedupe: ["react", "react-dom"] },
  build: {
    target: ["chrome123", "firefox128", "safari17.5"],
    // Inlined assets would be `data:` addresses, which the page's policy refuses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    emptyOutDir: true,
    reportCompressedSize: false,
  },
  worker: { format: "es" },
  server: { proxy: { "^/(?!console/)": process.env.NOVA_URL ?? "http://127.0.0.1:3000" } },
});
