#include "app/window/serving/search_choices.h"

#include "app/window/form_parts.h"
#include "hardware/files/catalogue.h"
#include "serving/routers/router.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"
#include "workload/models/transformer_source.h"

#include <QCheckBox>
#include <QCoreApplication>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QVBoxLayout>

#include <algorithm>
#include <limits>

namespace orrery::app {

namespace {

QString t(const char* text) {
    return QCoreApplication::translate("SearchChoices", text);
}

std::vector<std::pair<std::string, QString>> plain(std::initializer_list<const char*> values) {
    std::vector<std::pair<std::string, QString>> all;
    for (const char* value : values) all.emplace_back(value, QString::fromUtf8(value));
    return all;
}

std::string_view deviceOf(std::string_view value) {
    return value.substr(0, value.find('@'));
}
double priceOf(const std::string& value) {
    const std::size_t at = value.find('@');
    return at == value.npos ? 0 : QString::fromStdString(value.substr(at + 1)).toDouble();
}
std::string withPrice(std::string_view device, double dollars) {
    return dollars > 0 ? std::string(device) + '@' + QString::number(dollars, 'g', 6).toStdString()
                       : std::string(device);
}

/// Changes what is ticked of one axis; axes stay in the order in which they are offered, as do their values.
void change(ServingStudy& question, const SearchAxis& axis, const std::string& value, bool ticked, double price) {
    auto& sweep = question.sweep;
    auto at = std::ranges::find(sweep, axis.key, &SweepAxis::key);
    if (at == sweep.end()) {
        if (!ticked) return;
        const auto rank = [](const std::string& key) {
            return std::ranges::find(searchAxes(), key, &SearchAxis::key) - searchAxes().begin();
        };
        at = std::ranges::find_if(sweep, [&](const SweepAxis& other) { return rank(other.key) > rank(axis.key); });
        at = sweep.insert(at, {axis.key, {}});
    }
    auto& values = at->values;
    std::erase_if(values, [&](const std::string& each) { return deviceOf(each) == value; });
    if (ticked) values.push_back(withPrice(value, price));
    const auto place = [&](const std::string& each) {
        return std::ranges::find_if(axis.offers, [&](const auto& o) { return o.first == deviceOf(each); }) -
               axis.offers.begin();
    };
    std::ranges::stable_sort(values, {}, place);
    if (values.empty()) sweep.erase(at);
}

}  // namespace

const std::vector<SearchAxis>& searchAxes() {
    static const std::vector<SearchAxis> all = [] {
        std::vector<SearchAxis> axes;
        SearchAxis hardware{
            "hardware", t("Device"), t("Device"), t("Devices of the library. Add a price per hour to compare costs"),
            {},         true,        {}};
        for (const CatalogueEntry& entry : hardwareCatalogue())
            if (entry.group == "GPU") hardware.offers.emplace_back(entry.id, ui::qs(entry.name));
        axes.push_back(std::move(hardware));
        axes.push_back({"tensor",
                        t("Tensor parallel"),
                        t("Tensor"),
                        t("Tensor parallelism: devices that divide every layer"),
                        plain({"1", "2", "4", "8"}),
                        false,
                        {}});
        axes.push_back({"pipeline",
                        t("Pipeline parallel"),
                        t("Pipeline"),
                        t("Pipeline stages: devices that each have some of the layers"),
                        plain({"1", "2", "4", "8"}),
                        false,
                        {}});
        axes.push_back({"expert", t("Expert parallel"), t("Expert"),
                        t("Expert parallelism: devices that divide the experts"), plain({"1", "2", "4", "8"}), false,
                        [](const ServingStudy& q) {
                            const auto config = transformerConfig(q.scenario.model.source);
                            return config && config->experts > 0;
                        }});
        axes.push_back({"pools",
                        t("Replicas, or prefill : decode"),
                        t("Replicas"),
                        t("One number: replicas for both phases. Two numbers: replicas for prefill and for decode"),
                        plain({"1", "2", "4", "8", "1:1", "1:2", "1:3", "2:1", "2:2", "3:1"}),
                        false,
                        {}});
        SearchAxis policies{
            "scheduler", t("Scheduler"), t("Scheduler"), t("Chooses the requests of the next iteration"), {}, true, {}};
        for (const SchedulerCard& card : schedulers()) policies.offers.emplace_back(card.id, ui::qs(card.title));
        axes.push_back(std::move(policies));
        axes.push_back({"chunk",
                        t("Chunk"),
                        t("Chunk"),
                        t("Tokens of an iteration with prompts in it (Sarathi), or of one prompt (SGLang); other "
                          "schedulers ignore it"),
                        plain({"128", "256", "512", "1024", "2048", "4096"}),
                        false,
                        {}});
        axes.push_back({"token_budget",
                        t("Token budget"),
                        t("Budget"),
                        t("Tokens of one iteration (vLLM, SGLang)"),
                        plain({"512", "1024", "2048", "4096", "8192", "16384"}),
                        false,
                        {}});
        axes.push_back({"weights",
                        t("Weights"),
                        t("Weights"),
                        t("Precision of weights: what they are stored in"),
                        plain({"bf16", "fp8", "i8", "i4", "fp4"}),
                        false,
                        {}});
        SearchAxis ways{"router", t("Router"), t("Router"), t("Chooses the replica of a request"), {}, true, {}};
        for (const RouterCard& card : routers()) ways.offers.emplace_back(card.id, ui::qs(card.title));
        axes.push_back(std::move(ways));
        return axes;
    }();
    return all;
}

QString searchValueText(const std::string& key, const std::string& value) {
    const auto axis = std::ranges::find(searchAxes(), key, &SearchAxis::key);
    QString text = ui::qs(value);
    if (axis == searchAxes().end()) return text;
    for (const auto& [offer, name] : axis->offers)
        if (offer == deviceOf(value)) text = name;
    if (const double price = priceOf(value); price > 0)
        text += QStringLiteral(", ") + t("%1 $/h").arg(price, 0, 'g', 4);
    return text;
}

SearchChoices::SearchChoices(QWidget* parent) : QWidget(parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(ui::Theme::instance().unit() / 2);
    axes_.reserve(searchAxes().size());
    for (const SearchAxis& axis : searchAxes()) addAxis(axis, column);
}

void SearchChoices::addAxis(const SearchAxis& axis, QVBoxLayout* column) {
    const QString id = QStringLiteral("serving.search.") + ui::qs(axis.key);
    auto* fold = new ui::Fold(id, axis.title, axis.tip, this);
    axes_.push_back({&axis, fold, {}, {}});
    auto* grid = new QGridLayout(fold->body());
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setSpacing(ui::Theme::instance().unit() / 2);
    const int across = axis.wide ? 1 : 4;
    int number = 0;
    for (const auto& [value, name] : axis.offers) {
        auto* box = new QCheckBox(name, fold->body());
        box->setObjectName(id + QLatin1Char('.') + ui::qs(value));
        box->setAccessibleName(axis.title + QLatin1Char(' ') + name);
        box->setToolTip(axis.tip);
        axes_.back().boxes[value] = box;
        const int row = number / across;
        grid->addWidget(box, row, number % across);
        connect(box, &QCheckBox::clicked, this, [this, axis = &axis, value = value](bool on) {
            emit edited([=](ServingStudy& q) { change(q, *axis, value, on, 0); });
        });
        if (axis.key == "hardware") {
            auto* price = named(new ui::ValueEdit(fold->body()), "", t("Price of %1").arg(name),
                                t("Dollars per hour of one device; empty: not known"));
            price->setObjectName(id + QLatin1Char('.') + ui::qs(value) + QStringLiteral(".price"));
            price->setMeasure(Dimension::Number);
            price->setFallback(t("$/h"));
            price->setFixedWidth(static_cast<int>(8 * ui::Theme::instance().unit() * ui::Theme::instance().scale()));
            grid->addWidget(price, row, 1);
            axes_.back().prices[value] = price;
            const auto set = [this, axis = &axis, value = value](double dollars) {
                emit edited([=](ServingStudy& q) { change(q, *axis, value, true, dollars); });
            };
            connect(price, &ui::ValueEdit::committed, this, [set](const QString& text) {
                if (const auto read = parseMeasure(text.toStdString(), Dimension::Number); read && read->si >= 0)
                    set(read->si);
            });
            connect(price, &ui::ValueEdit::cleared, this, [set] { set(0); });
        }
        ++number;
    }
    if (across > 1) grid->setColumnStretch(across, 1);
    column->addWidget(fold);
}

void SearchChoices::show(const ServingStudy& question) {
    ticked_ = question.sweep;
    for (Axis& each : axes_) {
        each.fold->setVisible(!each.axis->shown || each.axis->shown(question));
        const auto at = std::ranges::find(ticked_, each.axis->key, &SweepAxis::key);
        QStringList said;
        for (auto& [value, box] : each.boxes) {
            const QSignalBlocker quiet(box);
            box->setChecked(false);
        }
        // Hidden only where it does not come back at once: who types a price keeps the place.
        for (auto& [device, price] : each.prices) {
            const bool stays = at != ticked_.end() && std::ranges::any_of(at->values, [&](const std::string& value) {
                                   return deviceOf(value) == device;
                               });
            if (!stays) price->setVisible(false);
        }
        for (const std::string& value : at == ticked_.end() ? std::vector<std::string>() : at->values) {
            said << searchValueText(each.axis->key, value);
            const std::string device(deviceOf(value));
            if (const auto box = each.boxes.find(device); box != each.boxes.end()) {
                const QSignalBlocker quiet(box->second);
                box->second->setChecked(true);
            }
            if (const auto price = each.prices.find(device); price != each.prices.end()) {
                const double dollars = priceOf(value);
                price->second->setVisible(true);
                price->second->setStored(dollars > 0 ? QString::number(dollars, 'g', 6) : QString());
            }
        }
        each.fold->head()->setSummary(said.isEmpty() ? t("as set") : said.join(QStringLiteral(" · ")),
                                      said.isEmpty() ? ui::Tone::Muted : ui::Tone::Accent);
    }
}

std::size_t SearchChoices::configurations() const {
    return countPoints(ticked_, std::numeric_limits<std::size_t>::max()).value_or(0);
}

}  // namespace orrery::app
