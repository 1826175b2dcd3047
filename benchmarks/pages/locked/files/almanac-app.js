import "./almanac-entry.js";
class AlmanacApp extends HTMLElement{constructor(){super();this.attachShadow({mode:"open"})}
connectedCallback(){this.shadowRoot.innerHTML=`<style>header{background:#48632d;color:#fff;padding:14px}main{max-width:40em;margin:auto}</style><header><a href="/almanac/">The Allotment Almanac</a></header><main><almanac-entry name="${this.getAttribute("entry")}"></almanac-entry></main>`}}
customElements.define("almanac-app",AlmanacApp);
