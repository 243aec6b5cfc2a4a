// SPDX-License-Identifier: GPL-2.0-or-later
// Lines in, lines out (README.md).

#include "flows.h"

#include <ns3/simulator.h>

#include <cmath>
#include <exception>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>

namespace {

std::vector<std::uint32_t> linksOf(std::istream& in) {
    std::size_t count = 0;
    in >> count;
    if (!in || count == 0 || count > 4096) throw std::runtime_error("a way without links");
    std::vector<std::uint32_t> links(count);
    for (std::uint32_t& one : links) in >> one;
    return links;
}

void check(const std::vector<std::uint32_t>& way, std::size_t links) {
    for (const std::uint32_t one : way)
        if (one >= links) throw std::runtime_error("a way over a link that is not there");
}

void printEnd(const Flows& flows) {
    std::cout << "counts " << flows.packets() << ' ' << flows.marks() << ' ' << flows.drops() << '\n';
    for (std::size_t l = 0; l < flows.links().size(); ++l) {
        const Link& link = flows.links()[l];
        for (const Link::Busy& one : link.busy)
            std::cout << "busy " << l << ' ' << one.begin - flows.zero() << ' ' << one.end - flows.zero() << ' '
                      << one.bytes << '\n';
    }
    std::cout << "done" << std::endl;
}

void converse() {
    Settings settings;
    std::uint32_t vertices = 0;
    std::vector<Link> links;
    std::unique_ptr<Flows> flows;
    std::cout.precision(17);
    for (std::string line, word; std::getline(std::cin, line);) {
        std::istringstream in(line);
        in >> word;
        if (word == "settings") {
            int dctcp = 1;
            in >> dctcp >> settings.payload >> settings.header >> settings.markFrom >> settings.markAll >>
                settings.markMost >> settings.seed;
            settings.dctcp = dctcp != 0;
        } else if (word == "vertices") {
            in >> vertices;
        } else if (word == "link") {
            Link link;
            in >> link.from >> link.to >> link.rate >> link.latency;
            if (link.from >= vertices || link.to >= vertices || !(link.rate > 0) || link.latency < 0)
                throw std::runtime_error("a link that ends nowhere or carries nothing");
            links.push_back(link);
        } else if (word == "build") {
            flows = std::make_unique<Flows>(settings, vertices, links);
        } else if (!flows) {
            throw std::runtime_error("expected settings, vertices, link or build");
        } else if (word == "flow") {
            const auto way = linksOf(in), back = linksOf(in);
            check(way, links.size());
            check(back, links.size());
            flows->add(way, back);
        } else if (word == "start") {
            flows->settle();
            std::cout << "ready" << std::endl;
        } else if (word == "send") {
            std::int64_t time = 0;
            std::size_t flow = 0;
            std::uint32_t message = 0;
            std::uint64_t bytes = 0;
            in >> time >> flow >> message >> bytes;
            flows->send(time, flow, message, bytes);
        } else if (word == "until") {
            std::int64_t time = 0;
            in >> time;
            const std::int64_t at = flows->run(time);
            const std::vector<Arrival> come = flows->takeArrivals();
            for (const Arrival& one : come) std::cout << "come " << one.message << ' ' << one.time << '\n';
            std::cout << "at " << at << std::endl;
        } else if (word == "end") {
            printEnd(*flows);
        } else {
            throw std::runtime_error("unknown word");
        }
        if (!in) throw std::runtime_error("a line that ends too early");
    }
}

}  // namespace

int main() {
    std::ios::sync_with_stdio(false);
    ns3::Time::SetResolution(ns3::Time::PS);
    try {
        converse();
    } catch (const std::exception& wrong) {
        std::cout << "error " << wrong.what() << std::endl;
        return 1;
    }
    return 0;
}
