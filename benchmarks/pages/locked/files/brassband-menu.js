function hs_banner(){document.write('<img src="/brassband/banner.gif" width="760" height="90" alt="Aldbeck Silver Band">')}
function hs_menu(cur){var m=['home','history','players','diary','photos'],s='';for(var i=0;i<m.length;i++){s+='<a class="hsm" href="/brassband/'+m[i]+'.html">'+(m[i]==cur?'&raquo; ':'')+m[i].toUpperCase()+'</a>'}document.write('<p>'+s+'</p><hr>')}
function hs_footer(){document.write('<hr><p align="center"><font size="1">&copy; 2004 A.S.B.</font></p>')}
