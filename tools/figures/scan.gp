# Draws h200-scan.png from the rows "device-chart" of device.csv: cd tools/figures && gnuplot scan.gp
set terminal pngcairo size 900,500 font "sans,11"
set output "h200-scan.png"
set title "NVIDIA H200: GB/s of the bytes that a scan must read and write"
set logscale x 2
set xrange [2**10:2**28]
set format x "2^{%L}"
set xlabel "elements"
set yrange [0:4500]
set grid ytics
set key left top
rows(case, who, bytes) = sprintf("< awk -F '[,;] *' '$1 == \"device-chart\" && $6 == \"%s\" && $8 == \"%s\" " . \
                                 "{print $7, $7 * %d / $9 / 1e3}' device.csv", case, who, bytes)
plot rows("copy u32", "device", 8) with lines lw 2 lc "black" title "copy", \
     rows("exclusive scan u32", "gpuscan", 8) with linespoints pt 7 lw 2 lc 1 title "u32", \
     rows("exclusive scan u32", "CUB 3.5", 8) with lines dt 2 lw 2 lc 1 title "u32: CUB", \
     rows("exclusive scan u64", "gpuscan", 16) with linespoints pt 7 lw 2 lc 2 title "u64", \
     rows("exclusive scan u64", "CUB 3.5", 16) with lines dt 2 lw 2 lc 2 title "u64: CUB", \
     rows("exclusive scan u8", "gpuscan", 2) with linespoints pt 7 lw 2 lc 4 title "u8", \
     rows("exclusive scan u8", "CUB 3.5", 2) with lines dt 2 lw 2 lc 4 title "u8: CUB"
