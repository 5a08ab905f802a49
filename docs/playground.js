// The playground in the pages of the book: the element is a module, which a book can load only like this.
(() => {
  const here = new URL("playground/dist/element.js", new URL(path_to_root, location.href));
  const dark = () => ["coal", "navy", "ayu"].some((theme) => document.documentElement.classList.contains(theme));
  const follow = () => {
    for (const element of document.querySelectorAll("chancery-playground")) element.setAttribute("theme", dark() ? "dark" : "light");
  };
  follow();
  new MutationObserver(follow).observe(document.documentElement, { attributeFilter: ["class"] });
  if (document.querySelector("chancery-playground")) import(here);
})();
