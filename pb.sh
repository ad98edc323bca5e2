cd /tmp/w3; gcc -std=c11 -O2 -g -DNDEBUG -DBATCHED -Isrc -o pb pb.c src/cuckoo_{tables,format,filter,build}.c -lm; gcc -std=c11 -O2 -g -DNDEBUG -I/work/main/src -o pb0 pb.c /work/main/src/cuckoo_{tables,format,filter,build}.c -lm
for n in ${*:-1e5 1e6 1e7}; do for m in 0 1; do echo -n "old "; ./pb0 $n $m 100000; ./pb $n $m 100000; done; ./pb $n 2 100000; ./pb $n 3 100000; done
