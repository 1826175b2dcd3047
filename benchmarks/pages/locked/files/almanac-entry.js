class AlmanacEntry extends HTMLElement{static observedAttributes=["name"];
async connectedCallback(){const s=this.attachShadow({mode:"open"});s.innerHTML="<p part=wait>&hellip;</p>";
const r=await fetch(`/almanac/entries/${this.getAttribute("name")}.json`);const e=await r.json();document.title=e.title+" - The Allotment Almanac";
s.innerHTML=`<article><h1>${e.title}</h1>${e.paragraphs.map(p=>`<p>${p}</p>`).join("")}</article>`}}
customElements.define("almanac-entry",AlmanacEntry);
