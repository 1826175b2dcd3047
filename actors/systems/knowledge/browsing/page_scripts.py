"""What is run in a page to read it: in a world of its own, where the page's scripts have changed nothing.

`visit` evaluates them. They change nothing of the page.
"""

# How far a page has come: [letters of its text, whether it is still parsed, seconds until it sends us
# elsewhere or -1].
STATE = """(() => {
  const unseen = ['script', 'style', 'noscript', 'template'];
  const texts = document.createTreeWalker(document.body || document, NodeFilter.SHOW_TEXT);
  let text = 0;
  while (texts.nextNode()) {
    const { parentNode, data } = texts.currentNode;
    if (parentNode && !unseen.includes(parentNode.localName)) text += data.trim().length;
  }
  const refresh = document.querySelector('meta[http-equiv="refresh" i][content*="url" i]');
  const wait = refresh ? parseFloat(refresh.content) : -1;
  return [text, document.readyState === 'loading', Number.isFinite(wait) ? wait : -1];
})()"""

# The document as HTML, or null where it is longer than that. Shadow roots and the frames that may be read are
# copied into an inert document, whose elements run nothing and load nothing; without any, nothing is copied.
HTML = """((most) => {
  const isFrame = (element) => element.localName === 'iframe' || element.localName === 'frame';
  const within = (element) => {
    if (element.shadowRoot) return element.shadowRoot.childNodes;
    if (element.localName === 'slot') {
      const given = element.assignedNodes();
      return given.length ? given : element.childNodes;
    }
    if (isFrame(element)) {
      const inside = element.contentDocument;
      return inside && inside.body ? inside.body.childNodes : element.childNodes;
    }
    return element.childNodes;
  };
  const told = (html) => (html.length > most ? null : html.toWellFormed());
  const root = document.documentElement;
  if (!root) return '';
  let deeper = false;
  for (const element of document.getElementsByTagName('*')) {
    if (element.shadowRoot || isFrame(element)) { deeper = true; break; }
  }
  if (!deeper) return told(root.outerHTML);
  const inert = document.implementation.createHTMLDocument('');
  let left = 500000;
  const copy = (node) => {
    if (node.nodeType !== Node.ELEMENT_NODE) return inert.importNode(node, false);
    return isFrame(node) ? inert.createElement('div') : inert.importNode(node, false);
  };
  // By a list of what is still to do, for pages may be nested more deeply than functions may.
  const top = copy(root);
  const todo = [[root, top]];
  while (todo.length) {
    const [from, to] = todo.pop();
    for (const child of within(from)) {
      if ((left -= 1) < 0) return null;
      const made = copy(child);
      to.appendChild(made);
      if (child.nodeType === Node.ELEMENT_NODE) {
        if (child.localName === 'template') made.innerHTML = child.innerHTML;
        else todo.push([child, made]);
      }
    }
  }
  return told(top.outerHTML);
})(MOST)"""
