export function a(s,b){const n=b.querySelector("span");if(n)n.textContent=+n.textContent+1}
