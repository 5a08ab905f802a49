// <chancery-playground>: the playground in any page, in a frame of its own.
//
// The frame is the page of this package, or one that `page` names. It is made when the element comes into sight, and all frames of a document
// share the page's compiled programs (`boot.js` of the page sees to that). What must not be here: anything that the page shows.

/** A file as the playground has it. */
export interface PlaygroundFile {
  /** Its name, as in findings. */
  name: string;
  /** YAML or JSON. */
  text: string;
}

/** What a compile found. */
export interface Compiled {
  /** How many findings are errors. */
  errors: number;
  /** How many are warnings. */
  warnings: number;
}

/** The events of the element. None bubbles. */
export interface PlaygroundEvents {
  /** The page is there, and has the files. */
  "chancery-ready": CustomEvent<void>;
  /** What the page holds was compiled. */
  "chancery-compiled": CustomEvent<Compiled>;
  /** Somebody changed the files. */
  "chancery-change": CustomEvent<PlaygroundFile[]>;
  /** There is nothing to show, for this reason. */
  "chancery-error": CustomEvent<string>;
}

const HEIGHT = 420;

const STYLE = new CSSStyleSheet();
STYLE.replaceSync(`
:host { display: block; contain: layout style; }
:host([hidden]) { display: none; }
iframe, pre { display: block; box-sizing: border-box; width: 100%; height: 100%; margin: 0; border: 0; }
pre { overflow: auto; padding: 12px; font: 12.5px/1.6 ui-monospace, monospace; }
`);

/**
 * The playground as an element.
 *
 * ```html
 * <chancery-playground embed="graph" theme="dark" readonly height="420">
 *   <script type="application/yaml" data-name="shop.yaml">…</script>
 * </chancery-playground>
 * ```
 */
export class ChanceryPlayground extends HTMLElement {
  static readonly observedAttributes = ["embed", "theme", "readonly", "src", "height", "dialect", "options", "page"];

  readonly #root = this.attachShadow({ mode: "open" });
  #frame: HTMLIFrameElement | undefined;
  #files: PlaygroundFile[] | undefined;
  #ready = false;
  #seen: IntersectionObserver | undefined;
  #fetched: AbortController | undefined;
  #wanted = HEIGHT;

  /** What it holds: set, or the text of its `<script type="application/yaml">`, or fetched from `src`. */
  get files(): PlaygroundFile[] {
    return this.#files ?? this.#written();
  }

  set files(files: PlaygroundFile[]) {
    this.#files = files.map(({ name, text }) => ({ name: String(name), text: String(text) }));
    this.#load();
  }

  /** The view to show alone: `graph`, `routes`, `envoy`, `ir`, `findings`...; `all`, or nothing, for the editor and all views. */
  get embed(): string {
    return this.getAttribute("embed") || "all";
  }

  set embed(view: string) {
    this.setAttribute("embed", view);
  }

  /** `light` or `dark`; the reader's own where it is not set. */
  get theme(): string | null {
    return this.getAttribute("theme");
  }

  set theme(theme: string | null) {
    if (theme === null) this.removeAttribute("theme");
    else this.setAttribute("theme", theme);
  }

  /** Whether the text cannot be changed. */
  get readonly(): boolean {
    return this.hasAttribute("readonly");
  }

  set readonly(readonly: boolean) {
    this.toggleAttribute("readonly", readonly);
  }

  /** Whether the page is there. */
  get ready(): boolean {
    return this.#ready;
  }

  connectedCallback(): void {
    this.#root.adoptedStyleSheets = [STYLE];
    const waiting = document.createElement("pre");
    waiting.textContent = this.#written().map((file) => file.text).join("\n---\n");
    this.#root.replaceChildren(waiting);
    this.#resize();
    addEventListener("message", this.#heard);
    this.#seen = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && this.#show(), { rootMargin: "200px" });
    this.#seen.observe(this);
  }

  disconnectedCallback(): void {
    removeEventListener("message", this.#heard);
    this.#seen?.disconnect();
    this.#fetched?.abort();
    this.#frame = undefined;
    this.#ready = false;
    this.#root.replaceChildren();
  }

  attributeChangedCallback(name: string, before: string | null, after: string | null): void {
    if (before === after || !this.isConnected) return;
    if (name === "height") this.#resize();
    else if (name === "theme" && after) this.#say({ type: "chancery:set", theme: after });
    else if (name === "embed" && this.#alone(before) === this.#alone(after)) this.#say({ type: "chancery:set", view: this.embed });
    else if (name === "src" || name === "dialect" || name === "options") {
      if (name === "src") this.#files = undefined;
      this.#load();
    } else if (this.#frame) {
      // What the page is told by its address alone.
      this.#ready = false;
      this.#frame.src = this.#address();
    }
  }

  #alone(view: string | null): boolean {
    return Boolean(view) && view !== "all";
  }

  /** The text of its scripts, one file each. */
  #written(): PlaygroundFile[] {
    const scripts = [...this.querySelectorAll<HTMLScriptElement>('script[type="application/yaml"]')];
    return scripts.map((script, at) => ({ name: script.dataset["name"] ?? (at ? `more-${at}.yaml` : "gateway.yaml"), text: outdented(script.textContent ?? "") }));
  }

  #address(): string {
    const page = this.getAttribute("page");
    const address = page ? new URL(page, document.baseURI) : new URL("../page/index.html", import.meta.url);
    address.searchParams.set("embed", this.embed);
    const dialect = this.getAttribute("dialect");
    if (dialect) address.searchParams.set("dialect", dialect);
    if (this.theme) address.searchParams.set("theme", this.theme);
    if (this.readonly) address.searchParams.set("readonly", "");
    // What it is going to say; without that, the page shows an example.
    if (this.files.length || this.getAttribute("src")) address.searchParams.set("awaits", "files");
    return address.href;
  }

  #show(): void {
    if (this.#frame) return;
    this.#seen?.disconnect();
    const frame = document.createElement("iframe");
    frame.title = this.getAttribute("aria-label") ?? "Chancery playground";
    frame.setAttribute("allow", "clipboard-write");
    frame.src = this.#address();
    share(new URL(".", frame.src));
    this.#frame = frame;
    this.#root.querySelector("pre")?.replaceWith(frame);
  }

  readonly #heard = (event: MessageEvent): void => {
    if (!this.#frame || event.source !== this.#frame.contentWindow || typeof event.data !== "object" || event.data === null) return;
    const { type, ...more } = event.data as Record<string, unknown>;
    switch (type) {
      case "chancery:ready":
        this.#ready = true;
        this.#load();
        this.#tell("chancery-ready", undefined);
        break;
      case "chancery:compiled":
        this.#tell("chancery-compiled", { errors: Number(more["errors"]), warnings: Number(more["warnings"]) });
        break;
      case "chancery:changed":
        if (Array.isArray(more["files"])) {
          this.#files = more["files"] as PlaygroundFile[];
          this.#tell("chancery-change", this.#files);
        }
        break;
      case "chancery:size":
        this.#wanted = Number(more["height"]) || HEIGHT;
        this.#resize();
        break;
    }
  };

  /** As high as `height` says, or as the page asks where it says `auto`. */
  #resize(): void {
    const height = this.getAttribute("height");
    const asked = height === "auto" ? this.#wanted : Number.parseFloat(height ?? "");
    this.style.height = `${Number.isFinite(asked) ? Math.min(Math.max(asked, 80), 10_000) : HEIGHT}px`;
  }

  /** Hands the files to the page, once both are there. */
  #load(): void {
    if (!this.#ready) return;
    const src = this.getAttribute("src");
    if (this.#files || !src) {
      const files = this.files;
      if (files.length) this.#say({ type: "chancery:load", files, dialect: this.getAttribute("dialect"), options: this.getAttribute("options") });
      return;
    }
    this.#fetched?.abort();
    this.#fetched = new AbortController();
    fetch(new URL(src, document.baseURI), { signal: this.#fetched.signal })
      .then(async (response) => {
        if (!response.ok) throw new Error(`${src} cannot be had: ${response.status}`);
        this.files = [{ name: src.split(/[?#]/)[0]?.split("/").pop() || "gateway.yaml", text: await response.text() }];
      })
      .catch((error: unknown) => {
        if (!(error instanceof DOMException && error.name === "AbortError")) this.#tell("chancery-error", String(error instanceof Error ? error.message : error));
      });
  }

  #say(message: object): void {
    if (this.#ready) this.#frame?.contentWindow?.postMessage(message, new URL(this.#frame.src).origin);
  }

  #tell(name: keyof PlaygroundEvents, detail: unknown): void {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

/** Compiles the programs of a page once, for all frames of this document: its `boot.js` looks for them here. */
function share(page: URL): void {
  const name = Symbol.for(`chancery ${page.href}`);
  const holder = globalThis as unknown as Record<symbol, { program: (of: string) => Promise<WebAssembly.Module> }>;
  if (page.origin !== location.origin || holder[name]) return;
  const compile = (program: string): Promise<WebAssembly.Module> => {
    const compiled = WebAssembly.compileStreaming(fetch(new URL(program, page)));
    // Where this document's policy forbids it, each frame compiles for itself.
    compiled.catch(() => delete holder[name]);
    return compiled;
  };
  const known = new Map<string, Promise<WebAssembly.Module>>();
  const program = (of: string): Promise<WebAssembly.Module> => {
    const compiled = known.get(of) ?? compile(of);
    known.set(of, compiled);
    return compiled;
  };
  holder[name] = { program };
}

/** Text without the blanks that all its lines begin with, as it stands in a page that is indented. */
function outdented(text: string): string {
  const lines = text.replace(/^\s*\n/, "").trimEnd().split("\n");
  const blanks = lines.filter((line) => line.trim()).map((line) => line.length - line.trimStart().length);
  const margin = blanks.length ? Math.min(...blanks) : 0;
  return `${lines.map((line) => line.slice(margin)).join("\n")}\n`;
}

export interface ChanceryPlayground {
  addEventListener<Name extends keyof PlaygroundEvents>(type: Name, listener: (event: PlaygroundEvents[Name]) => void, options?: boolean | AddEventListenerOptions): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject | null, options?: boolean | AddEventListenerOptions): void;
}

declare global {
  interface HTMLElementTagNameMap {
    "chancery-playground": ChanceryPlayground;
  }
}

if (!customElements.get("chancery-playground")) customElements.define("chancery-playground", ChanceryPlayground);
