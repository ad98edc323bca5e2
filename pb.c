#define _POSIX_C_SOURCE 199309L
#include "cuckoo_build.h"
#include "cuckoo_filter.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double now(void){struct timespec t;clock_gettime(CLOCK_PROCESS_CPUTIME_ID,&t);return t.tv_sec*1e9+t.tv_nsec;}
static uint64_t key(uint64_t i){uint64_t z=(i+1)*UINT64_C(0x9e3779b97f4a7c15);z=(z^z>>30)*UINT64_C(0xbf58476d1ce4e5b9);z=(z^z>>27)*UINT64_C(0x94d049bb133111eb);return z^z>>31;}
static int cmp(const void*a,const void*b){uint64_t x=*(uint64_t*)a,y=*(uint64_t*)b;return (x>y)-(x<y);}
int main(int c,char**v){ uint64_t n=strtod(v[1],0); int mode=atoi(v[2]); long P=atol(v[3]); uint64_t*h=malloc(n*8); for(uint64_t i=0;i<n;i++)h[i]=key(i); qsort(h,n,8,cmp);
 CuckooHeader g; cuckoo_header_exact(&g,n,13,0); uint32_t*s=malloc(cuckoo_build_slots(&g)*4); uint8_t*im=malloc(cuckoo_image_size(&g)); cuckoo_build(&g,h,n,s); cuckoo_build_pack(&g,s,im); 
 uint64_t *k=malloc(P*8); bool *f=malloc(P); for(long i=0;i<P;i++)k[i]=mode&1?key(i*7919%n):key((uint64_t)(i+1)<<32);
 double b=1e18,rr=1e18; for(int r=0;r<20;r++){uint64_t found=0;double t=now(); 
  if(mode<2) for(long i=0;i<P;i++) found+=cuckoo_contains(&g,im,k[i]); 
#ifdef BATCHED
  else {cuckoo_contains_batch(&g,im,k,P,f); for(long i=0;i<P;i++)found+=f[i];}
#endif
  t=now()-t; if(t<b)b=t; volatile uint64_t sink=found;(void)sink;
  uint64_t lines=cuckoo_image_size(&g)/64; t=now(); uint64_t sum=0; for(long i=0;i<P;i++){ sum+=im[((k[i]>>32)*lines>>32)<<6]+im[((k[i]&0xffffffff)*lines>>32)<<6];} t=now()-t; if(t<rr)rr=t; sink=sum; }
 printf("n=%lu mode %d: %.2f ns, two reads %.2f, ratio %.2f\n",(unsigned long)n,mode,b/P,rr/P,b/rr);}
