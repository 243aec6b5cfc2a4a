#include "evaluation/column_mapping.h"
#include "evaluation/reference_table.h"

#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <zlib.h>

#include <cmath>
#include <random>

using namespace orrery;

namespace {

const char* bench =
    "GPU,Precision,M,N,K,Lat (us),std\n"
    "H100 SXM,half,1024,4096,4096,45.3,0.5\n"
    "\n"
    "H100 SXM,half,64,4096,4096,,0.5\n"
    "h100-sxm,single,2048,4096,4096,1500,3\n"
    "h100-sxm,half,2048,0,4096,90,0.1\n";

ColumnMapping mapped(std::initializer_list<const char*> terms) {
    ColumnMapping mapping;
    for (const char* each : terms)
        if (const auto set = setMappedTerms(mapping, each); !set) qWarning("%s", toText(set.error()).c_str());
    return mapping;
}

}  // namespace

class TestColumnMapping : public QObject {
    Q_OBJECT
    QTemporaryDir dir_;

    std::string write(const char* name, const std::string& text) const {
        const auto path = dir_.filePath(name).toStdString();
        if (path.ends_with(".gz")) {
            auto* file = gzopen(path.c_str(), "wb1");
            gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
            gzclose(file);
            return path;
        }
        QFile file(dir_.filePath(name));
        if (file.open(QIODevice::WriteOnly)) file.write(text.data(), static_cast<qint64>(text.size()));
        return path;
    }

private slots:
    void theSampleIsTheFileAsItIs() {
        for (const char* name : {"bench.csv", "bench.csv.gz"}) {
            const auto sample = sampleTable(write(name, bench));
            QVERIFY2(sample, sample ? "" : toText(sample.error()).c_str());
            QVERIFY(sample->whole);
            QCOMPARE(sample->columns.size(), std::size_t{7});
            QCOMPARE(sample->columns[5], std::string("Lat (us)"));
            QVERIFY((sample->lines == std::vector<int>{2, 4, 5, 6}));
            QCOMPARE(sample->rows[1][5], std::string());
            QVERIFY((wordsOf(*sample, "Precision") == std::vector<std::string>{"half", "single"}));
        }
        const auto two = sampleTable(write("bench.csv", bench), 2);
        QVERIFY(two && !two->whole && two->rows.size() == 2);
        QVERIFY(QByteArray::fromStdString(two->text).count('\n') == 4);  // the head, a row, an empty line, a row
    }
    void filesThatAreNoTablesAreRefused() {
        QCOMPARE(QString::fromStdString(sampleTable(write("empty.csv", "")).error().code), QString("reference.empty"));
        QCOMPARE(QString::fromStdString(sampleTable(write("head.csv", "a,b\n")).error().code),
                 QString("reference.empty"));
        QCOMPARE(QString::fromStdString(sampleTable("/no/such.csv").error().code), QString("reference.unreadable"));
        QCOMPARE(QString::fromStdString(sampleTable(dir_.path().toStdString()).error().code),
                 QString("reference.unreadable"));
        const auto bytes = sampleTable(write("bytes.csv", std::string("a,b\n1\0,2\n", 9)));
        QVERIFY(!bytes && bytes.error().place.line == 2);
    }
    void aLargeFileIsReadInPart() {
        std::string text = "m,n,k,time_ms\n";
        while (text.size() < 3u << 20) text += "128,256,512,0.25\n";
        const auto sample = sampleTable(write("large.csv", text), 1'000'000);
        QVERIFY(sample && !sample->whole);
        QVERIFY(sample->text.size() <= 1u << 20 && sample->text.ends_with("0.25\n"));
        QCOMPARE(sample->rows.back().size(), std::size_t{4});
    }
    void usualNamesAreGuessed() {
        const auto sample = sampleTable(write("bench.csv", bench));
        const ColumnMapping guess = guessMapping(*sample);
        QCOMPARE(QString::fromStdString(std::string(mappedTo(guess, "kind"))), QString("gemm"));
        QCOMPARE(guess.device, std::string("{GPU}"));
        QCOMPARE(guess.time, std::string("`Lat (us)`"));
        QCOMPARE(guess.unit, std::string("us"));
        QCOMPARE(std::string(mappedTo(guess, "dtype")), std::string("{Precision}"));
        const auto other =
            sampleTable(write("other.csv", "num_gpus,nccl_op,bytes,latency_ms,h\n8,all-reduce,4096,0.02,1\n"));
        const ColumnMapping collective = guessMapping(*other);
        QCOMPARE(std::string(mappedTo(collective, "kind")), std::string("collective"));
        QCOMPARE(std::string(mappedTo(collective, "message_bytes")), std::string("bytes"));
        QVERIFY(mappedTo(collective, "height").empty());  // `h` is no image's height here
        // What no name says is not made up.
        const auto none = guessMapping(*sampleTable(write("none.csv", "alpha,beta\n1,2\n")));
        QVERIFY(none.fields.empty() && none.time.empty() && none.device.empty());
    }
    void rowsBecomeKernelsAndTheRestIsNamedByLine() {
        const auto sample = sampleTable(write("bench.csv", bench));
        ColumnMapping mapping = guessMapping(*sample);
        mapping.words = {{"Precision", "half", "dtype", "fp16"}, {"Precision", "single", "dtype", "fp32"}};
        QVERIFY(setMapped(mapping, "noise", "std / `Lat (us)`"));
        const auto description = describe(mapping);
        QVERIFY2(description, description ? "" : toText(description.error()).c_str());
        const auto table = tryMapping(*sample, *description);
        QVERIFY2(table, table ? "" : toText(table.error()).c_str());
        QCOMPARE(table->rows.size(), std::size_t{2});
        QCOMPARE(table->rows[0].line, 2);
        QVERIFY(table->rows[0].kernel.type == DType::F16 && table->rows[0].kernel.m == 1024);
        QVERIFY(std::fabs(table->rows[0].seconds - 45.3e-6) < 1e-15);
        QVERIFY(std::fabs(table->rows[0].noise - 0.5 / 45.3) < 1e-12);
        QVERIFY(table->rows[1].line == 5 && table->rows[1].kernel.type == DType::F32);
        for (const auto& device : table->devices) QCOMPARE(device.catalogue, std::string("h100-sxm"));
        std::map<std::string, int> lines;
        for (const auto& each : table->warnings) lines[each.code] = each.place.line;
        QCOMPARE(lines, (std::map<std::string, int>{{"reference.extent", 6}, {"reference.not-a-number", 4}}));
    }
    // What is tried is what is imported, also through the file that keeps it.
    void theSavedMappingReadsTheSame() {
        const auto path = write("bench.csv", bench);
        const auto sample = sampleTable(path);
        ColumnMapping mapping = guessMapping(*sample);
        mapping.name = "mine: \"quoted\", {braces} # and more";
        mapping.source = "lab";
        mapping.words = {{"Precision", "half", "dtype", "fp16"}, {"Precision", "single", "dtype", "fp32"}};
        const auto tried = tryMapping(*sample, *describe(mapping));
        QVERIFY(tried);
        const std::vector<std::string> patterns{"bench.csv"};
        const auto saved = write("mine.yaml", writeImport(mapping, patterns));
        const auto kept = readImportFile(saved);
        QVERIFY2(kept, kept ? "" : toText(kept.error()).c_str());
        QCOMPARE(kept->name, mapping.name);
        QCOMPARE(kept->files, patterns);
        const auto read = readReferences(std::span(&path, 1), ReadOptions{.description = saved});
        QVERIFY2(read, read ? "" : toText(read.error()).c_str());
        const ReferenceTable& table = read->front();
        QCOMPARE(table.rows.size(), tried->rows.size());
        for (std::size_t i = 0; i < table.rows.size(); ++i) {
            QCOMPARE(table.rows[i].seconds, tried->rows[i].seconds);
            QCOMPARE(toText(table.rows[i].kernel), toText(tried->rows[i].kernel));
        }
        ReadOptions given;
        given.mapping = std::make_shared<const ImportDescription>(*describe(mapping));
        QCOMPARE(readReferences(std::span(&path, 1), given)->front().rows.size(), tried->rows.size());
    }
    void aStatedDeviceStandsAboveAColumn() {
        const auto sample = sampleTable(write("d.csv", "device,m,n,k,time_ms\nzx81,128,128,128,1\n"));
        ColumnMapping mapping = mapped({"kind=gemm,dtype=bf16,m=m,n=n,k=k,time=time_ms,unit=ms", "device=l40s"});
        QCOMPARE(tryMapping(*sample, *describe(mapping))->devices[0].catalogue, std::string("l40s"));
        mapping.device = "{device}";
        const auto unknown = tryMapping(*sample, *describe(mapping));
        QCOMPARE(unknown->warnings.front().code, std::string("reference.unknown-device"));
        QCOMPARE(tryMapping(*sample, *describe(mapping), "l4")->devices[0].catalogue, std::string("l4"));
    }
    void wrongTermsAreRefused() {
        for (const char* terms : {"m", "=M", "colour=red", "m=M,colour=red"}) {
            ColumnMapping mapping;
            const auto set = setMappedTerms(mapping, terms);
            QVERIFY2(!set && set.error().code.starts_with("mapping."), terms);
        }
        ColumnMapping commas = mapped({"n=max(N, 2),dtype={a,b},k=`x,y`"});
        QCOMPARE(std::string(mappedTo(commas, "n")), std::string("max(N, 2)"));
        QCOMPARE(std::string(mappedTo(commas, "dtype")), std::string("{a,b}"));
        QCOMPARE(std::string(mappedTo(commas, "k")), std::string("`x,y`"));
        QVERIFY(setMapped(commas, "k", ""));
        QVERIFY(mappedTo(commas, "k").empty());
    }
    void eachValueIsCheckedByItself_data() {
        QTest::addColumn<QString>("term");
        QTest::addColumn<bool>("sound");
        const auto row = [](const char* term, bool sound) { QTest::newRow(term) << QString(term) << sound; };
        row("m=M", true);
        row("m=MM", false);
        row("m=2 *", false);
        row("m=max(M, N) * type_bytes", true);
        row("dtype=bf16", true);
        row("dtype=bf17", false);
        row("dtype={Precision}", true);
        row("dtype={precision}", false);
        row("time=`Lat (us)`", true);
        row("time=Lat (us)", false);
        row("unit=min", false);
        row("unit=us", true);
        row("device=h100-sxm", true);
        row("device=zx81", false);
        row("device={GPU}", true);
        row("truth=guessed", false);
        row("kind=matmul", false);
    }
    void eachValueIsCheckedByItself() {
        QFETCH(QString, term);
        QFETCH(bool, sound);
        const auto sample = sampleTable(write("bench.csv", bench));
        const ColumnMapping mapping = mapped({qPrintable(term)});
        const auto wrong = checkMapped(mapping, term.section('=', 0, 0).toStdString(), *sample);
        QCOMPARE(!wrong, sound);
        if (wrong) QVERIFY(!wrong->message.empty() && !wrong->expected.empty());
    }
    void anIncompleteMappingSaysWhatIsMissing() {
        QCOMPARE(describe(mapped({"m=M,n=N,k=K,time=t"})).error().code, std::string("mapping.incomplete"));
        QCOMPARE(describe(mapped({"kind=gemm,m=M,n=N,k=K"})).error().code, std::string("mapping.incomplete"));
        // What would otherwise be taken for one without a word.
        const auto noReduction = describe(mapped({"kind=gemm,dtype=bf16,m=M,n=N,time=t"}));
        QVERIFY(!noReduction && noReduction.error().code == "mapping.incomplete");
        QVERIFY(noReduction.error().message.find("`k`") != std::string::npos);
        const auto noType = describe(mapped({"kind=gemm,m=M,n=N,k=K,time=t"}));
        QVERIFY(!noType && noType.error().message.find("`dtype`") != std::string::npos);
        ColumnMapping byWords = mapped({"kind=gemm,m=M,n=N,k=K,time=t"});
        byWords.words = {{"p", "half", "dtype", "fp16"}};
        QVERIFY(describe(byWords));
    }
    // Whatever stands in a mapping: a description or a diagnostic, never anything else; and what is written is read.
    void anyMappingIsEitherRefusedOrReadable() {
        std::mt19937 random(7);
        const std::string letters = "mnkMNK{}()`'\"\\,:#&*!|>%@+-/ \t0123456789.é";
        const auto any = [&] {
            std::string text;
            for (auto left = random() % 12; left > 0; --left) text += letters[random() % letters.size()];
            return text;
        };
        const auto sample = sampleTable(write("bench.csv", bench));
        for (int i = 0; i < 3000; ++i) {
            ColumnMapping mapping = guessMapping(*sample);
            mapping.name = any();
            mapping.noise = random() % 2 ? any() : "";
            if (random() % 2) mapping.time = any();
            if (random() % 2) mapping.fields.emplace_back("batch", any());
            mapping.words = {{any(), any(), "dtype", "fp16"}};
            const auto description = describe(mapping);
            if (!description) {
                QVERIFY(!description.error().code.empty());
                continue;
            }
            (void)tryMapping(*sample, *description);
        }
    }
};

QTEST_GUILESS_MAIN(TestColumnMapping)
#include "tst_column_mapping.moc"
