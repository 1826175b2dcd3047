import{el,get}from"./chunk-K2PLQ7.js";
const root=document.querySelector("app-root");root.setAttribute("ng-version","17.3.11");
root.append(el("mat-toolbar",{class:"mat-toolbar"},el("a",{href:"/"},"Trailbook"),el("a",{href:"/trails"},"Trails"),el("a",{href:"/hides"},"Hides")),el("router-outlet"));
const cmp=el("app-trail",{"_nghost-ng-c77":""},el("mat-progress-bar",{role:"progressbar"}));root.append(cmp);
const slug=location.pathname.split("/").pop();
const t=await get("trailbook-api/trails/"+slug);
document.title=t.name+" | Trailbook";
cmp.replaceChildren(el("article",{class:"trail"},el("h1",{},t.name),el("p",{class:"facts"},t.length+", "+t.ascent),...t.description.map(p=>el("p",{},p))));
