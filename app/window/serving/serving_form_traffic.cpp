#include "app/window/form_parts.h"
#include "app/window/serving/serving_form.h"
#include "widgets/common/label.h"
#include "widgets/common/log_slider.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/value_edit.h"
#include "widgets/serving/traffic_picture.h"

#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QPushButton>

namespace orrery::app {

namespace {

QString nameOf(ArrivalKind kind) {
    switch (kind) {
        case ArrivalKind::Poisson:
            return ServingForm::tr("Poisson");
        case ArrivalKind::Gamma:
            return ServingForm::tr("Gamma (burstier)");
        case ArrivalKind::Constant:
            return ServingForm::tr("Constant");
        case ArrivalKind::Bursts:
            return ServingForm::tr("Bursts");
        case ArrivalKind::Diurnal:
            return ServingForm::tr("Day and night");
        case ArrivalKind::ClosedLoop:
            return ServingForm::tr("Closed loop");
        case ArrivalKind::AllAtOnce:
            return ServingForm::tr("All at once");
        case ArrivalKind::Trace:
            return ServingForm::tr("Trace file");
    }
    return {};
}

QString nameOf(LengthKind kind) {
    switch (kind) {
        case LengthKind::Fixed:
            return ServingForm::tr("Fixed");
        case LengthKind::Uniform:
            return ServingForm::tr("Uniform");
        case LengthKind::Zipf:
            return ServingForm::tr("Zipf");
        case LengthKind::LogNormal:
            return ServingForm::tr("Log-normal");
        case LengthKind::Trace:
            return ServingForm::tr("Trace file");
    }
    return {};
}

/// Lengths of that mean, as wide as is usual for the kind.
void setMean(LengthSpec& length, LengthKind kind, double mean) {
    length.kind = kind;
    length.mean = mean;
    const auto tokens = static_cast<std::int32_t>(mean);
    switch (kind) {
        case LengthKind::Uniform:
            length.least = std::max(1, tokens / 4);
            length.most = 2 * tokens - length.least;
            break;
        case LengthKind::Zipf:
        case LengthKind::LogNormal:
            length.least = 1;
            length.most = std::max(2, tokens * 8);
            break;
        default:
            break;
    }
}

}  // namespace

void ServingForm::buildTraffic() {
    QFormLayout* form = section(tr("Traffic"));
    arrivals_ = namedChoice(inner_, "serving.arrivals", tr("Arrivals"), tr("How requests arrive"));
    for (const ArrivalKind kind :
         {ArrivalKind::Poisson, ArrivalKind::Gamma, ArrivalKind::Constant, ArrivalKind::Bursts, ArrivalKind::Diurnal,
          ArrivalKind::ClosedLoop, ArrivalKind::AllAtOnce, ArrivalKind::Trace})
        arrivals_->addItem(nameOf(kind), static_cast<int>(kind));
    rate_ = named(new ui::LogSlider(inner_), "serving.rate", tr("Requests per second"),
                  tr("Drag: how many requests arrive per second"));
    rate_->setLogRange(0.05, 500);
    rateText_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Normal, inner_);
    cv_ = named(new QDoubleSpinBox(inner_), "serving.cv", tr("Variation of the gaps"),
                tr("Standard deviation ÷ mean of the time between arrivals; 1 is Poisson"));
    cv_->setRange(0.1, 20);
    concurrency_ =
        namedNumber(inner_, "serving.concurrency", tr("In flight"), tr("Requests in flight at any time"), 1, 100000);
    requests_ =
        namedNumber(inner_, "serving.requests", tr("Requests"), tr("How many requests the run has"), 1, 10000000);
    trace_ = named(new QPushButton(tr("Choose a trace …"), inner_), "serving.trace", tr("Choose a trace"),
                   tr("Azure, Mooncake, BurstGPT, ShareGPT, Splitwise, or any CSV"));
    lengths_ =
        namedChoice(inner_, "serving.lengths", tr("Lengths"), tr("How prompt and output lengths are distributed"));
    for (const LengthKind kind : {LengthKind::Fixed, LengthKind::Uniform, LengthKind::Zipf, LengthKind::LogNormal})
        lengths_->addItem(nameOf(kind), static_cast<int>(kind));
    prompt_ = namedNumber(inner_, "serving.prompt", tr("Mean prompt"), tr("Tokens of a prompt, mean"), 1, 1000000);
    output_ = namedNumber(inner_, "serving.output", tr("Mean output"), tr("Tokens of an answer, mean"), 1, 100000);
    seed_ = namedNumber(inner_, "serving.seed", tr("Seed"),
                        tr("The same seed makes the same traffic and the same answer"), 0, 1000000);
    picture_ = new ui::TrafficPicture(inner_);
    picture_->setMinimumHeight(static_cast<int>(120 * ui::Theme::instance().scale()));
    trafficText_ = new ui::Label({}, ui::FontRole::Small, ui::Tone::Muted, inner_);
    trafficText_->setWordWrap(true);
    auto* rate = new QHBoxLayout;
    rate->addWidget(rate_, 1);
    rate->addWidget(rateText_);
    form->addRow(tr("Arrivals"), arrivals_);
    form->addRow(tr("Rate"), rate);
    form->addRow(tr("Variation"), cv_);
    form->addRow(tr("In flight"), concurrency_);
    form->addRow(QString(), trace_);
    form->addRow(tr("Requests"), requests_);
    form->addRow(tr("Lengths"), lengths_);
    form->addRow(tr("Prompt"), prompt_);
    form->addRow(tr("Output"), output_);
    form->addRow(tr("Seed"), seed_);
    form->addRow(picture_);
    form->addRow(trafficText_);
    connect(arrivals_, &QComboBox::activated, this, [this] {
        const auto kind = static_cast<ArrivalKind>(arrivals_->currentData().toInt());
        if (kind == ArrivalKind::Trace && question_.traffic.trace.file.empty()) return chooseTrace();
        question_.traffic.arrivals.kind = kind;
        showTraffic();
        changed();
    });
    connect(rate_, &ui::LogSlider::edited, this, [this](double value, ui::EditPhase) {
        question_.traffic.arrivals.rate = value;
        showTraffic();
        changed();
    });
    connect(cv_, &QDoubleSpinBox::valueChanged, this, [this](double value) {
        question_.traffic.arrivals.cv = value;
        changed();
    });
    const auto ofTraffic = [this](QSpinBox* box, auto set) {
        connect(box, &QSpinBox::valueChanged, this, [this, set](int value) {
            if (filling_) return;
            set(value);
            changed();
        });
    };
    ofTraffic(concurrency_, [this](int value) { question_.traffic.arrivals.concurrency = value; });
    ofTraffic(requests_, [this](int value) { question_.traffic.requests = value; });
    ofTraffic(seed_, [this](int value) { question_.seed = static_cast<std::uint64_t>(value); });
    const auto lengths = [this] {
        const auto kind = static_cast<LengthKind>(lengths_->currentData().toInt());
        question_.traffic.ratio = 0;
        setMean(question_.traffic.prompt, kind, prompt_->value());
        setMean(question_.traffic.output, kind, output_->value());
    };
    ofTraffic(prompt_, [lengths](int) { lengths(); });
    ofTraffic(output_, [lengths](int) { lengths(); });
    connect(lengths_, &QComboBox::activated, this, [this, lengths] {
        lengths();
        changed();
    });
    connect(trace_, &QPushButton::clicked, this, &ServingForm::chooseTrace);
}

void ServingForm::chooseTrace() {
    auto* dialog = new QFileDialog(this, tr("Choose a trace of requests"), {},
                                   tr("Traces (*.csv *.jsonl *.csv.gz *.jsonl.gz);;All files (*)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& file) {
        question_.traffic.trace = {};
        question_.traffic.trace.file = file.toStdString();
        question_.traffic.arrivals.kind = ArrivalKind::Trace;
        question_.traffic.prompt.kind = question_.traffic.output.kind = LengthKind::Trace;
        showTraffic();
        changed();
    });
    connect(dialog, &QFileDialog::rejected, this, &ServingForm::showTraffic);
    dialog->open();
}

void ServingForm::showTraffic() {
    filling_ = true;
    const TrafficSpec& traffic = question_.traffic;
    const ArrivalKind kind = traffic.arrivals.kind;
    arrivals_->setCurrentIndex(arrivals_->findData(static_cast<int>(kind)));
    const bool open = kind != ArrivalKind::ClosedLoop && kind != ArrivalKind::AllAtOnce && kind != ArrivalKind::Trace;
    rate_->setEnabled(open);
    rateText_->setText(open ? tr("%1/s").arg(traffic.arrivals.rate, 0, 'g', 3) : QStringLiteral("–"));
    cv_->setEnabled(kind == ArrivalKind::Gamma);
    concurrency_->setEnabled(kind == ArrivalKind::ClosedLoop);
    trace_->setText(traffic.trace.file.empty() ? tr("Choose a trace …")
                                               : QFileInfo(ui::qs(traffic.trace.file)).fileName());
    const bool traced = traffic.prompt.kind == LengthKind::Trace;
    lengths_->setEnabled(!traced);
    prompt_->setEnabled(!traced);
    output_->setEnabled(!traced);
    filling_ = false;
}

void ServingForm::buildPromise() {
    QFormLayout* form = section(tr("Promise"));
    const auto promise = [&](const char* id, const QString& name, const QString& tip, double ServiceLevel::*field) {
        auto* edit = named(new ui::ValueEdit(inner_), id, name, tip);
        edit->setMeasure(Dimension::Time);
        edit->setFallback(tr("none"));
        const auto set = [this, field](double seconds) {
            question_.scenario.promise.*field = seconds;
            changed();
        };
        connect(edit, &ui::ValueEdit::committed, this, [set](const QString& text) {
            if (const auto value = parseMeasure(text.toStdString(), Dimension::Time)) set(value->si);
        });
        connect(edit, &ui::ValueEdit::cleared, this, [set, edit] {
            edit->setStored({});
            set(0);
        });
        return edit;
    };
    ttft_ = promise("serving.promise.ttft", tr("Time to first token"),
                    tr("Requests keep the promise if their first token comes within this time"), &ServiceLevel::ttft);
    tpot_ = promise("serving.promise.tpot", tr("Time per output token"),
                    tr("… and if further tokens come at this pace, on average"), &ServiceLevel::tpot);
    endToEnd_ =
        promise("serving.promise.endToEnd", tr("End to end"),
                tr("… and if the last token comes within this time of the request's arrival"), &ServiceLevel::endToEnd);
    form->addRow(tr("First token"), ttft_);
    form->addRow(tr("Per token"), tpot_);
    form->addRow(tr("End to end"), endToEnd_);
}

}  // namespace orrery::app
