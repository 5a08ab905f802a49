// <chancery-playground>: the playground inside another page, in an iframe.
//
// The iframe shows the page of this package, or the page that `page` names. It is created when the element becomes visible. All iframes of a
// document share the compiled programs; `start.js` of the page uses them.

/** A file of the playground. */
export interface PlaygroundFile {
  /** The name that findings show. */
  name: string;
  /** YAML or JSON. */
  text: string;
}

/** The result of a compile. */
export interface Compiled {
  errors: number;
  warnings: number;
}

/** The events of the element. They do not bubble. */
export interface PlaygroundEvents {
  /** The page is ready and received the files. */
  "chancery-ready": CustomEvent<void>;
  /** The page compiled its files. */
  "chancery-compiled": CustomEvent<Compiled>;
  /** The user changed the files. */
  "chancery-change": CustomEvent<PlaygroundFile[]>;
  /** The files cannot be loaded, for this reason. */
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
  #visibility: IntersectionObserver | undefined;
  #fetching: AbortController | undefined;
  #requestedHeight = HEIGHT;

  /** The files: set by a script, from `<script type="application/yaml">` inside the element, or fetched from `src`. */
  get files(): PlaygroundFile[] {
    return this.#files ?? this.#scriptFiles();
  }

  set files(files: PlaygroundFile[]) {
    this.#files = files.map(({ name, text }) => ({ name: String(name), text: String(text) }));
    this.#load();
  }

  /** The only view to show: `graph`, `routes`, `envoy`, `ir`, `findings`...; `all` or empty for the editor and all views. */
  get embed(): string {
    return this.getAttribute("embed") || "all";
  }

  set embed(view: string) {
    this.setAttribute("embed", view);
  }

  /** `light` or `dark`. If missing, the reader's preference. */
  get theme(): string | null {
    return this.getAttribute("theme");
  }

  set theme(theme: string | null) {
    if (theme === null) this.removeAttribute("theme");
    else this.setAttribute("theme", theme);
  }

  /** Whether the user cannot edit. */
  get readonly(): boolean {
    return this.hasAttribute("readonly");
  }

  set readonly(readonly: boolean) {
    this.toggleAttribute("readonly", readonly);
  }

  /** Whether the page is ready. */
  get ready(): boolean {
    return this.#ready;
  }

  connectedCallback(): void {
    this.#root.adoptedStyleSheets = [STYLE];
    const waiting = document.createElement("pre");
    waiting.textContent = this.#scriptFiles().map((file) => file.text).join("\n---\n");
    this.#root.replaceChildren(waiting);
    this.#resize();
    addEventListener("message", this.#onMessage);
    this.#visibility = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && this.#createFrame(), { rootMargin: "200px" });
    this.#visibility.observe(this);
  }

  disconnectedCallback(): void {
    removeEventListener("message", this.#onMessage);
    this.#visibility?.disconnect();
    this.#fetching?.abort();
    this.#frame = undefined;
    this.#ready = false;
    this.#root.replaceChildren();
  }

  attributeChangedCallback(name: string, before: string | null, after: string | null): void {
    if (before === after || !this.isConnected) return;
    if (name === "height") this.#resize();
    else if (name === "theme" && after) this.#send({ type: "chancery:set", theme: after });
    else if (name === "embed" && this.#showsOneView(before) === this.#showsOneView(after)) this.#send({ type: "chancery:set", view: this.embed });
    else if (name === "src" || name === "dialect" || name === "options") {
      if (name === "src") this.#files = undefined;
      this.#load();
    } else if (this.#frame) {
      // Only the address passes these attributes to the page.
      this.#ready = false;
      this.#frame.src = this.#address();
    }
  }

  #showsOneView(view: string | null): boolean {
    return Boolean(view) && view !== "all";
  }

  /** The contents of its scripts, one file each. */
  #scriptFiles(): PlaygroundFile[] {
    const scripts = [...this.querySelectorAll<HTMLScriptElement>('script[type="application/yaml"]')];
    return scripts.map((script, at) => ({ name: script.dataset["name"] ?? (at ? `more-${at}.yaml` : "gateway.yaml"), text: removeIndentation(script.textContent ?? "") }));
  }

  #address(): string {
    const page = this.getAttribute("page");
    const address = page ? new URL(page, document.baseURI) : new URL("../page/index.html", import.meta.url);
    address.searchParams.set("embed", this.embed);
    const dialect = this.getAttribute("dialect");
    if (dialect) address.searchParams.set("dialect", dialect);
    if (this.theme) address.searchParams.set("theme", this.theme);
    if (this.readonly) address.searchParams.set("readonly", "");
    // Without this, the page shows an example until the files arrive.
    if (this.files.length || this.getAttribute("src")) address.searchParams.set("awaits", "files");
    return address.href;
  }

  #createFrame(): void {
    if (this.#frame) return;
    this.#visibility?.disconnect();
    const frame = document.createElement("iframe");
    frame.title = this.getAttribute("aria-label") ?? "Chancery playground";
    frame.setAttribute("allow", "clipboard-write");
    frame.src = this.#address();
    share(new URL(".", frame.src));
    this.#frame = frame;
    this.#root.querySelector("pre")?.replaceWith(frame);
  }

  readonly #onMessage = (event: MessageEvent): void => {
    if (!this.#frame || event.source !== this.#frame.contentWindow || typeof event.data !== "object" || event.data === null) return;
    const { type, ...more } = event.data as Record<string, unknown>;
    switch (type) {
      case "chancery:ready":
        this.#ready = true;
        this.#load();
        this.#dispatch("chancery-ready", undefined);
        break;
      case "chancery:compiled":
        this.#dispatch("chancery-compiled", { errors: Number(more["errors"]), warnings: Number(more["warnings"]) });
        break;
      case "chancery:changed":
        if (Array.isArray(more["files"])) {
          this.#files = more["files"] as PlaygroundFile[];
          this.#dispatch("chancery-change", this.#files);
        }
        break;
      case "chancery:size":
        this.#requestedHeight = Number(more["height"]) || HEIGHT;
        this.#resize();
        break;
    }
  };

  /** Applies `height`, or for `auto` the height that the page requests. */
  #resize(): void {
    const height = this.getAttribute("height");
    const asked = height === "auto" ? this.#requestedHeight : Number.parseFloat(height ?? "");
    this.style.height = `${Number.isFinite(asked) ? Math.min(Math.max(asked, 80), 10_000) : HEIGHT}px`;
  }

  /** Sends the files to the page, when both are ready. */
  #load(): void {
    if (!this.#ready) return;
    const src = this.getAttribute("src");
    if (this.#files || !src) {
      const files = this.files;
      if (files.length) this.#send({ type: "chancery:load", files, dialect: this.getAttribute("dialect"), options: this.getAttribute("options") });
      return;
    }
    this.#fetching?.abort();
    this.#fetching = new AbortController();
    fetch(new URL(src, document.baseURI), { signal: this.#fetching.signal })
      .then(async (response) => {
        if (!response.ok) throw new Error(`${src} cannot be loaded: ${response.status}`);
        this.files = [{ name: src.split(/[?#]/)[0]?.split("/").pop() || "gateway.yaml", text: await response.text() }];
      })
      .catch((error: unknown) => {
        if (!(error instanceof DOMException && error.name === "AbortError")) this.#dispatch("chancery-error", String(error instanceof Error ? error.message : error));
      });
  }

  #send(message: object): void {
    if (this.#ready) this.#frame?.contentWindow?.postMessage(message, new URL(this.#frame.src).origin);
  }

  #dispatch(name: keyof PlaygroundEvents, detail: unknown): void {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}

/** Compiles the programs of a page once for all iframes of this document. The page's `start.js` finds them here. */
function share(page: URL): void {
  const name = Symbol.for(`chancery ${page.href}`);
  const holder = globalThis as unknown as Record<symbol, { program: (of: string) => Promise<WebAssembly.Module> }>;
  if (page.origin !== location.origin || holder[name]) return;
  const compile = (program: string): Promise<WebAssembly.Module> => {
    const compiled = WebAssembly.compileStreaming(fetch(new URL(program, page)));
    // If this document's policy forbids it, each iframe compiles its own copy.
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

/** Removes the common indentation of all lines. */
function removeIndentation(text: string): string {
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
