#include "app/cli/hardware_area.h"

#include "app/cli/output.h"
#include "base/unit.h"

#include <fmt/format.h>

namespace orrery::cli {

namespace {

std::string squareMillimetres(double m2) {
    return formatMeasure(m2, Dimension::Area);
}

}  // namespace

std::string areaText(const Hardware& hardware, const AreaReport& report) {
    std::string out = hardware.name + "\n\n";
    Table parts({"part", "copies", "each", "all", "of what"}, {false, true, true, true, false});
    for (const PartArea& part : report.parts) {
        parts.add({part.path, count(part.count), squareMillimetres(part.each),
                   squareMillimetres(part.each * part.count), part.what});
    }
    out += parts.text() + "\n";
    Table dies({"die", "copies", "sum of its parts", "stated", "yield", "price"},
               {false, true, true, true, true, true});
    for (const DieArea& die : report.dies) {
        dies.add({die.path, count(die.count), squareMillimetres(die.modelled),
                  die.stated ? squareMillimetres(*die.stated) : "–",
                  die.yield > 0 ? fmt::format("{:.0f} %", 100 * die.yield) : "–",
                  die.dollars > 0 ? fmt::format("${:.0f}", die.dollars) : "–"});
    }
    out += dies.text();
    out +=
        fmt::format("\nsilicon {} [{} … {}], dies ${:.0f}, memory ${:.0f}\n", squareMillimetres(report.area()),
                    squareMillimetres(report.areaAt(leastAreaRatio)), squareMillimetres(report.areaAt(mostAreaRatio)),
                    report.dollars() - report.memoryDollars, report.memoryDollars);
    out += "interval: the range of nine published dies over the sums of their parts; a stated area is taken as it is\n";
    return out;
}

nlohmann::ordered_json areaJson(const AreaReport& report) {
    using Json = nlohmann::ordered_json;
    Json parts = Json::array(), dies = Json::array();
    for (const PartArea& part : report.parts) {
        parts.push_back({{"path", part.path},
                         {"copies", part.count},
                         {"each_m2", part.each},
                         {"die", part.die},
                         {"what", part.what}});
    }
    for (const DieArea& die : report.dies) {
        Json one{{"path", die.path}, {"copies", die.count}, {"parts_m2", die.modelled}};
        if (die.stated) one["stated_m2"] = *die.stated;
        if (die.yield > 0) one["yield"] = die.yield;
        if (die.dollars > 0) one["dollars"] = die.dollars;
        dies.push_back(std::move(one));
    }
    return {{"parts", std::move(parts)},
            {"dies", std::move(dies)},
            {"area_m2", report.area()},
            {"dollars", report.dollars()},
            {"memory_dollars", report.memoryDollars}};
}

}  // namespace orrery::cli
