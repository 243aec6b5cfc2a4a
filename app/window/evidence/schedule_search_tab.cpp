#include "app/window/evidence/schedule_search_tab.h"

#include "app/document/background.h"
#include "app/window/form_parts.h"
#include "app/window/shown_export.h"
#include "app/window/state_line.h"
#include "hardware/files/catalogue.h"
#include "widgets/common/flow_layout.h"
#include "widgets/common/label.h"
#include "widgets/common/picture_file.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/common/veil.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/schedules/nest_code.h"
#include "widgets/schedules/nest_picture.h"
#include "widgets/serving/line_plot.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QSplitter>
#include <QVBoxLayout>

#include <algorithm>

namespace orrery::app {

namespace {

constexpr std::size_t mostShown = 500;

const char* const usualWorkload = "gemm m=128 n=768 k=768";

QString guideName(ScheduleGuide guide) {
    switch (guide) {
        case ScheduleGuide::Trees:
            return ScheduleSearchTab::tr("Learned trees");
        case ScheduleGuide::Analytic:
            return ScheduleSearchTab::tr("Cheap price");
        case ScheduleGuide::Both:
            return ScheduleSearchTab::tr("Trees and cheap price");
        case ScheduleGuide::Random:
            break;
    }
    return ScheduleSearchTab::tr("Random");
}

}  // namespace

ScheduleSearchTab::ScheduleSearchTab(std::function<HardwarePtr()> drawn, QWidget* parent)
    : QWidget(parent), drawn_(std::move(drawn)), work_(new Background(this)) {
    state_ = addStateLine(this, buildForm(), "search.schedules.state");
    auto* column = static_cast<QVBoxLayout*>(layout());
    auto* split = named(new QSplitter(Qt::Horizontal, this), "search.schedules.split",
                        tr("The search, and one schedule"), tr("Drag the border to give one part more room"));
    split->setChildrenCollapsible(false);
    auto* left = named(new QSplitter(Qt::Vertical, split), "search.schedules.left", tr("Curves and trials"),
                       tr("Above: the best after each trial. Below: the trials"));
    left->setChildrenCollapsible(false);
    plot_ = new ui::LinePlot(QStringLiteral("search.schedules.plot"), tr("Best after each trial"),
                             tr("The time of the fastest schedule after each trial, a line per guide"), left);
    plot_->setEmptySentence(tr("The best schedule after each trial will be drawn here, a line per guide."));
    list_ = new ui::CellsTable(QStringLiteral("search.schedules.list"), tr("Trials"),
                               tr("What was tried and what it takes. A click on a row shows its loops"), left);
    list_->setEmptyText(tr("Schedules that were tried will be listed here, the fastest first."));
    left->addWidget(plot_);
    left->addWidget(list_);
    auto* right = named(new QSplitter(Qt::Vertical, split), "search.schedules.nest",
                        tr("Loops as code and as a picture"), tr("Above: the loops as code. Below: the same as bars"));
    right->setChildrenCollapsible(false);
    code_ = new ui::NestCode(right);
    code_->setObjectName(QStringLiteral("search.schedules.code"));
    code_->setSentence(tr("The loops of the selected schedule appear here as code."));
    auto* scroll = named(new QScrollArea(right), "search.schedules.scroll", tr("Picture of the loop nest"),
                         tr("Scrolls where the loops need more room"));
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    picture_ = new ui::NestPicture(scroll);
    picture_->setObjectName(QStringLiteral("search.schedules.picture"));
    scroll->setWidget(picture_);
    right->addWidget(code_);
    right->addWidget(scroll);
    split->addWidget(left);
    split->addWidget(right);
    split->setStretchFactor(0, 3);
    split->setStretchFactor(1, 2);
    column->addWidget(split, 1);
    veil_ = new ui::Veil(split);
    veil_->setObjectName(QStringLiteral("search.schedules.veil"));
    connect(code_, &ui::NestCode::lineChosen, picture_, &ui::NestPicture::setCurrentLine);
    connect(picture_, &ui::NestPicture::lineChosen, code_, &ui::NestCode::setCurrentLine);
    connect(list_, &ui::CellsTable::rowChosen, this, &ScheduleSearchTab::showTrial);
    connect(work_, &Background::advanced, this, [this] {
        takeLive();
        showState();
    });
    connect(work_, &Background::ended, this, &ScheduleSearchTab::showState);
    say(tr(
        "How soon does a learned guide find the fastest schedule of a product on a drawn device? Each trial asks the "
        "device's own simulation, and the guide learns from the answers."));
    showState();
}

ScheduleSearchTab::~ScheduleSearchTab() {
    work_->cancel();
}

QWidget* ScheduleSearchTab::buildForm() {
    auto* form = new QWidget(this);
    auto* row = new ui::FlowLayout(ui::Theme::instance().unit(), form);
    device_ =
        namedChoice(form, "search.schedules.device", tr("Device"),
                    tr("The CPU or GPU that runs the schedules: the design that is drawn, or one of the library"));
    device_->setMinimumContentsLength(24);
    device_->addItem(tr("The design that is drawn"), QString());
    for (const CatalogueEntry& entry : hardwareCatalogue())
        if (entry.group == "GPU" || entry.group == "CPU") device_->addItem(ui::qs(entry.name), ui::qs(entry.id));
    selectData(device_, QStringLiteral("core-i9-10940x"));
    workload_ = named(new QLineEdit(QLatin1String(usualWorkload), form), "search.schedules.workload", tr("Product"),
                      tr("A matrix product: gemm m=128 n=768 k=768, with a type such as fp16. Of a GPU also a "
                         "convolution"));
    workload_->setMinimumWidth(ui::Theme::instance().unit() * 28);
    guide_ = namedChoice(form, "search.schedules.guide", tr("Guide"),
                         tr("What chooses the next trial: trees that learn from each trial, a cheap estimate of the "
                            "loops, both, or chance"));
    for (const ScheduleGuide each :
         {ScheduleGuide::Both, ScheduleGuide::Trees, ScheduleGuide::Analytic, ScheduleGuide::Random})
        guide_->addItem(guideName(each), static_cast<int>(each));
    trials_ =
        namedNumber(form, "search.schedules.trials", tr("Trials"), tr("Number of schedules to simulate"), 8, 5000);
    trials_->setValue(200);
    trials_->setSuffix(tr(" trials"));
    seed_ = namedNumber(form, "search.schedules.seed", tr("Seed"), tr("The same seed tries the same schedules"), 1,
                        1000000);
    seed_->setPrefix(tr("seed "));
    start_ = named(new QPushButton(tr("Search"), form), "search.schedules.start", tr("Search, or stop"),
                   tr("Starts the search; if you stop it, the results so far are kept"));
    export_ = named(new QPushButton(tr("Export …"), form), "search.schedules.export", tr("Export"),
                    tr("The trials of all guides as CSV, the loops as picture or CSV"));
    for (QWidget* each : std::initializer_list<QWidget*>{device_, workload_, guide_, trials_, seed_, start_, export_})
        row->addWidget(each);
    connect(device_, &QComboBox::currentIndexChanged, this, &ScheduleSearchTab::showOld);
    connect(workload_, &QLineEdit::textChanged, this, &ScheduleSearchTab::showOld);
    connect(start_, &QPushButton::clicked, this, [this] { work_->isRunning() ? work_->cancel() : start(); });
    connect(workload_, &QLineEdit::returnPressed, this, [this] {
        if (!work_->isRunning()) start();
    });
    connect(export_, &QPushButton::clicked, this, [this] {
        askAndSave(
            this,
            {tr("Export"),
             "search.schedules.export.dialog",
             {tr("CSV of the trials (*.csv)"), tr("SVG of the loop nest (*.svg)"), tr("PDF of the loop nest (*.pdf)"),
              tr("PNG of the loop nest (*.png)"), tr("CSV of the loop nest (*.nest.csv)")}},
            [this](const QString& file) { return exportTo(file); }, *state_);
        // A name without an ending gets that of the kind that is chosen.
        auto* dialog = findChildren<QFileDialog*>(QStringLiteral("search.schedules.export.dialog")).last();
        connect(dialog, &QFileDialog::filterSelected, dialog, [dialog](const QString& kind) {
            const qsizetype at = kind.indexOf(QLatin1String("*.")) + 2;
            dialog->setDefaultSuffix(kind.mid(at, kind.indexOf(QLatin1Char(')'), at) - at));
        });
    });
    return form;
}

void ScheduleSearchTab::say(const QString& text, bool bad) {
    state_->setTone(bad ? ui::Tone::Bad : ui::Tone::Muted);
    state_->setFullText(text);
}

bool ScheduleSearchTab::isWorking() const {
    return work_->isRunning();
}

void ScheduleSearchTab::showState() {
    const bool running = work_->isRunning();
    start_->setText(running ? tr("Stop") : tr("Search"));
    export_->setEnabled(prices_ && !searches_.empty());
    showOld();
    if (!running || !work_->progress() || work_->progress()->total() == 0) return;
    state_->setTone(ui::Tone::Muted);
    state_->setFullText(
        tr("Searching: %1 of %2 trials").arg(work_->progress()->done()).arg(work_->progress()->total()));
}

bool ScheduleSearchTab::Question::operator==(const Question& other) const {
    const bool same = drawn == other.drawn || (drawn && other.drawn && *drawn == *other.drawn);
    return same && device == other.device && workload == other.workload;
}

ScheduleSearchTab::Question ScheduleSearchTab::question() const {
    Question out{device_->currentData().toString(), workload_->text().trimmed(), nullptr};
    if (out.device.isEmpty()) out.drawn = drawn_();
    return out;
}

void ScheduleSearchTab::showOld() {
    if (isOld())
        veil_->drop(tr("This answers another device or product. Press Search to ask about this one."));
    else
        veil_->lift();
}

// The drawing may have changed on another page, or by an undo on this one.
void ScheduleSearchTab::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    showOld();
}

void ScheduleSearchTab::enterEvent(QEnterEvent* event) {
    QWidget::enterEvent(event);
    showOld();
}

void ScheduleSearchTab::start() {
    const Question question = this->question();
    if (question.device.isEmpty() && !question.drawn)
        return say(tr("No design is drawn yet: choose a device of the library."), true);
    std::shared_ptr<SchedulePrices> known = question == asked_ ? prices_ : nullptr;
    ScheduleSearchOptions options;
    options.guide = static_cast<ScheduleGuide>(guide_->currentData().toInt());
    options.trials = static_cast<std::size_t>(trials_->value());
    options.seed = static_cast<std::uint64_t>(seed_->value());
    if (!known) {
        searches_.clear();
        prices_.reset();
        listed_.clear();
        list_->setCells({}, {});
        code_->setNest({});
        picture_->setNest({});
    }
    asked_ = question;
    showCurves();
    live_ = std::make_shared<Live>();
    struct Found {
        std::shared_ptr<SchedulePrices> prices;
        ScheduleSearch search;
    };
    say(tr("Laying out the schedules"));
    work_->ask(
        [=, live = live_](std::stop_token stop, Progress& progress) mutable -> Expected<Found> {
            if (!known) {
                HardwarePtr hardware = question.drawn;
                if (!hardware) {
                    auto loaded = loadHardware(question.device.toStdString());
                    if (!loaded) return tl::unexpected(std::move(loaded.error()));
                    hardware = std::make_shared<const Hardware>(std::move(loaded->hardware));
                }
                auto space = scheduleSpace(hardware, question.workload.toStdString());
                if (!space) return tl::unexpected(std::move(space.error()));
                known = std::make_shared<SchedulePrices>(std::move(*space));
            }
            {
                const std::scoped_lock lock(live->guard);
                live->prices = known;
            }
            progress.setTotal(std::min(options.trials, known->space().legal().size()));
            const auto executor = makeDefaultExecutor();
            options.executor = executor.get();
            options.stop = std::move(stop);
            std::size_t before = 0;
            options.onTrials = [&](const ScheduleSearch& so) {
                progress.advance(so.trials.size() - before);
                before = so.trials.size();
                const std::scoped_lock lock(live->guard);
                live->search = so, live->fresh = true;
            };
            auto search = searchSchedules(*known, options);
            if (!search) return tl::unexpected(std::move(search.error()));
            return Found{std::move(known), std::move(*search)};
        },
        [this](Expected<Found> found) {
            if (!found) {
                if (found.error().code == "study.cancelled")
                    return say(tr("Stopped before the first trials were done."));
                return sayRefusal(*state_, found.error());
            }
            prices_ = std::move(found->prices);
            const ScheduleSearch search = found->search;
            put(std::move(found->search));
            showTrials();
            if (const ScheduleTrial* fastest = search.fastest()) {
                list_->setCurrentRow(0);
                const ScheduleSpace& space = prices_->space();
                say(tr("%1: the fastest of %2 trials takes %3; %4 schedules can run on %5, each predicted by %6, "
                       "without an interval.")
                        .arg(guideName(search.guide))
                        .arg(search.trials.size())
                        .arg(ui::text(fastest->seconds, Dimension::Time))
                        .arg(ui::countText(static_cast<double>(space.legal().size())))
                        .arg(ui::qs(space.device()), ui::qs(space.target())));
            } else {
                say(tr("None of the schedules that were tried can run."), true);
            }
        });
    showState();
}

// Of the search under way: what it has found so far.
void ScheduleSearchTab::takeLive() {
    if (!live_ || !work_->isRunning()) return;
    ScheduleSearch so;
    {
        const std::scoped_lock lock(live_->guard);
        if (!live_->fresh) return;
        so = live_->search;
        prices_ = live_->prices;
        live_->fresh = false;
    }
    put(std::move(so));
}

// A guide has one line: its newest search.
void ScheduleSearchTab::put(ScheduleSearch search) {
    const auto same = std::ranges::find(searches_, search.guide, &ScheduleSearch::guide);
    if (same != searches_.end())
        *same = std::move(search);
    else
        searches_.push_back(std::move(search));
    showCurves();
}

void ScheduleSearchTab::showCurves() {
    ui::LinePlotData data;
    data.title = prices_ ? tr("%1 on %2: best after each trial").arg(asked_.workload, ui::qs(prices_->space().device()))
                         : tr("Best after each trial");
    data.xName = tr("trials");
    data.yName = tr("time of the fastest");
    data.yTicks = ui::TickText::Seconds;
    for (const ScheduleSearch& search : searches_) {
        ui::PlotLine line;
        line.name = guideName(search.guide);
        line.colour = static_cast<int>(search.guide);
        for (std::size_t i = 0; i < search.trials.size(); ++i) {
            if (search.trials[i].best <= 0) continue;
            line.x.push_back(static_cast<double>(i + 1));
            line.y.push_back(search.trials[i].best);
        }
        if (!line.x.empty()) data.lines.push_back(std::move(line));
    }
    plot_->setData(std::move(data));
}

void ScheduleSearchTab::showTrials() {
    if (!prices_) return;
    struct Row {
        ScheduleTrial trial;
        std::size_t at = 0;
        ScheduleGuide guide = ScheduleGuide::Trees;
    };
    std::vector<Row> rows;
    for (const ScheduleSearch& search : searches_)
        for (std::size_t i = 0; i < search.trials.size(); ++i) rows.push_back({search.trials[i], i + 1, search.guide});
    std::ranges::stable_sort(rows, {},
                             [](const Row& row) { return row.trial.seconds > 0 ? row.trial.seconds : 1e300; });
    rows.resize(std::min(rows.size(), mostShown));
    listed_.clear();
    std::vector<std::vector<ui::Cell>> cells;
    for (const Row& row : rows) {
        listed_.push_back(row.trial.point);
        const bool ran = row.trial.seconds > 0;
        const QString words = ui::qs(prices_->space().textOf(row.trial.point));
        cells.push_back(
            {ran ? ui::Cell{ui::text(row.trial.seconds, Dimension::Time), row.trial.seconds, {}, ui::Tone::Normal, true}
                 : ui::Cell{tr("cannot run"), 1e300, {}, ui::Tone::Bad, true},
             {QString::number(row.at), static_cast<double>(row.at), {}, ui::Tone::Normal, true},
             {guideName(row.guide), 0, {}, ui::Tone::Muted, false},
             {words, 0, words, ui::Tone::Normal, false}});
    }
    list_->setCells({tr("Takes"), tr("Trial"), tr("Guide"), tr("Schedule")}, std::move(cells));
}

void ScheduleSearchTab::showTrial(int row) {
    if (!prices_ || row < 0 || row >= static_cast<int>(listed_.size())) return;
    const ScheduleNest nest = prices_->space().nest(listed_[static_cast<std::size_t>(row)]);
    code_->setNest(nest);
    picture_->setNest(nest);
}

QString ScheduleSearchTab::exportTo(const QString& file) const {
    if (!prices_ || searches_.empty()) return tr("nothing has been searched yet");
    if (isOld()) return tr("the view shows the answer for another device or product: press Search first");
    const QFileInfo about(file);
    const QString ending = about.suffix().toLower();
    const bool table = ending == QLatin1String("csv");
    const bool nest = table && QFileInfo(about.completeBaseName()).suffix().toLower() == QLatin1String("nest");
    if (table && !nest) return ui::writeText(file, QByteArray::fromStdString(trialsAsCsv(prices_->space(), searches_)));
    if (!nest && !QStringList{QStringLiteral("svg"), QStringLiteral("pdf"), QStringLiteral("png")}.contains(ending))
        return tr("the ending says what is written: .csv the trials, .svg, .pdf, .png or .nest.csv the loops");
    return picture_->isEmpty() ? tr("no schedule is chosen") : picture_->exportTo(file);
}

}  // namespace orrery::app
